import re
from collections.abc import Iterable

from mcp_core.schema.fields import string_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_OLD = re.compile(r"json-schema\.org/(draft-0[0-6]/|schema)")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for schema, path in ((tool.schema, "inputSchema"), (tool.listed.output_schema or {}, "outputSchema")):
        draft = string_at(schema, "$schema")
        if draft and _OLD.search(draft):
            yield Problem(f"uses {short_json(draft)}", f"{path}.$schema")


RULE = Rule(
    id="SCH017",
    name="old-draft",
    family="schema",
    severity="warning",
    what="A schema in a draft before draft-07.",
    why="The default of the protocol is 2020-12, and its libraries validate against that or draft-07. "
    "Older drafts define some keywords differently, such as exclusiveMinimum.",
    fix="Use 2020-12 and leave out `$schema`, or use draft-07.",
    bad=[{"inputSchema": {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {}}}],
    good=[{"inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {}}}],
    check=check,
)
