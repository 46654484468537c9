"""The names and limits of the charter, which declarations, descriptions and the rules of the verifier share."""

from datetime import timedelta

META = "dev.toolcharter/"
"""The prefix of our keys in `_meta`."""
DOCS_SCHEME = "toolcharter://tools/"
"""Resources of this scheme are the full documentation of a tool."""
HEALTH_URI = "toolcharter://health"
"""A resource that is not listed: whether everything that calls depend on can be reached now."""
CONSENT_FIELD = "explicit_action"
CONSENT_HEADING = "REQUIRES EXPLICIT USER INSTRUCTION"
MIN_DESCRIPTION_LENGTH = 50
NOTICE = timedelta(days=90)
"""The shortest time between the deprecation of a tool and its removal."""
