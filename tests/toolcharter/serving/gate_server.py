"""A server whose calls go on until the test opens a gate: a file that it creates."""

import asyncio
import sys
from pathlib import Path

from toolcharter import App, Settings, run


def build(settings: Settings) -> App:
    app = App("gate", version="1.0.0", format="result", settings=settings)

    @app.tool
    async def wait(gate: str) -> str:
        sys.stderr.write("running\n")
        while not Path(gate).exists():  # noqa: ASYNC110, ASYNC240 - another process creates it
            await asyncio.sleep(0.01)
        return "passed"

    @app.tool(response_time="fast")
    async def hello() -> str:
        return "hello"

    @app.tool
    async def hold() -> str:
        sys.stderr.write("holding\n")
        while True:
            pass

    return app


if __name__ == "__main__":
    run(build)
