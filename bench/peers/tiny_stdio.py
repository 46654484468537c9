"""An MCP server over stdio in plain Python, small enough to start fifty of them: `python tiny_stdio.py [TOOLS]`."""

import json
import sys

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    names = ["add", *(f"add_{number}" for number in range(1, count))]
    tools = [{"name": name, "description": "Add two whole numbers.", "inputSchema": SCHEMA} for name in names]
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params", {})
        result = {"resultType": "complete"}
        if method == "server/discover":
            result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        elif method == "tools/list":
            result["tools"] = tools
        else:
            total = params["arguments"]["a"] + params["arguments"]["b"]
            result["content"] = [{"type": "text", "text": str(total)}]
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
