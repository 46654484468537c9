"""The smallest host: one JSON object for each line, in and out.

echo '{"tool": "count_words", "arguments": {"text": "one two"}}' | python examples/json_lines_host.py
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from toolcharter_examples.words import build

from toolcharter import App, Settings
from toolcharter.errors import ElicitationUnsupported, ForgedReply, UnknownTool
from toolcharter.hosts import Question, Reply, Request


async def handle(app: App, message: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one message of the client."""
    request = Request(
        tool=message["tool"],
        arguments=message.get("arguments", {}),
        caller=app.local_caller,
        can_return_questions=message.get("can_ask", False),
        must_declare=True,
        reply=Reply(**message["reply"]) if "reply" in message else None,
    )
    try:
        answer = await app.answer(request)
    except (UnknownTool, ForgedReply, ElicitationUnsupported) as error:
        return {"protocol_error": str(error)}
    if isinstance(answer, Question):
        return {"question": answer.text, "state": answer.state}
    return {"is_error": answer.is_error, "text": answer.text}


async def main() -> None:
    """Serve stdin until it ends."""
    async with build(Settings()) as app:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await handle(app, json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
