"""What a governor loads: its memory is mostly libraries."""

import json
import os
import subprocess
import sys

OTHERS = ("sqlalchemy", "rich", "yaml", "tomlkit", "markdown_it", "mcp", "mcp_types")
SERVE = f"""
import asyncio, json, sys
import toolcharter.serving.http, toolcharter.commands.govern
from toolcharter.call_log.store import CallStore, RetentionLimits
from toolcharter.console.pages import all_pages

async def keep():
    store = await CallStore.open(None, RetentionLimits(60, 10**6))
    assert await store.last_id() == 0
    await store.close()

all_pages()
asyncio.run(keep())
print(json.dumps([name for name in {OTHERS} if name in sys.modules]))
"""


def test_a_governor_with_its_console_loads_no_library_that_only_others_need(tmp_path):
    env = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", SERVE], env=env, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []
