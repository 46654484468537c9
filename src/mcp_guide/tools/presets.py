"""Presets for the declarations of the guide's tools. Nothing is cached: a file may change at any time."""

from toolcharter import tool

reads = tool.query.preset(permissions=["projects:read"], open_world=False)

reads_documents = reads.preset(permissions=["documents:read"], tags=["content"], response_time="medium")
"""Reads files, which may be many or on a slow disk."""

adds = tool.mutation.preset(permissions=["projects:write"], open_world=False, response_time="medium")
"""Creates something; a second call is an error. It may have to wait for another process that is writing."""

changes = adds.preset(idempotent=True)

removes = changes.preset(destructive=True)
