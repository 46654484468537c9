"""The names of MCP: versions, error codes, metadata keys, extensions, and the form of a confirmation."""

from mcp_core.declare.charter import META
from mcp_core.text.json_text import JsonObject

MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKES[-1]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
CANNOT_START = "cannot_start"
"""The `reason` in the data of each error of a server that cannot start."""
UNSUPPORTED_VERSION = -32022
URL_ELICITATION_REQUIRED = -32042
"""Of 2025-11-25 only."""

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = _PREFIX + "protocolVersion"
CAPABILITIES_KEY = _PREFIX + "clientCapabilities"
CLIENT_KEY = _PREFIX + "clientInfo"
SERVER_KEY = _PREFIX + "serverInfo"
SUBSCRIPTION_KEY = _PREFIX + "subscriptionId"

TASKS = _PREFIX + "tasks"
"""The extension with calls that outlive their request."""
SKILLS = _PREFIX + "skills"
"""The extension with documents that teach an agent."""
TASK_PROGRESS = META + "progress"
"""In the `_meta` of a task: how much is done, and of how much."""
TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")

CONFIRM = "confirm"
CONFIRM_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Yes, go ahead", "description": "Whether the action may be carried out."}
    },
    "required": [CONFIRM],
}
