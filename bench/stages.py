"""Where a governed call spends its time: each step of the pipeline, inside real calls, with everything on.

`python -m bench.stages CALLS` is one sample, in a process of its own, because it wraps the pipeline's steps.
"""

import asyncio
import inspect
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.contenders import ERAS, ROOT
from bench.measure import Cell, Sample, interleave
from bench.processes import environment

KIND = "stages"
STEPS = ("observe", "authorize", "parse", "limit", "lookup", "invoke", "check", "store", "render", "record")


def measure(
    rounds: int, calls: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    cell = Cell(KIND, "governed_native", ERAS[-1])
    return interleave([cell], rounds, lambda *_: sample(calls, folder), log)


def sample(calls: int, folder: Path) -> Sample:
    command = [sys.executable, "-m", "bench.stages", str(calls)]
    done = subprocess.run(command, cwd=ROOT, env=environment(folder), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


async def run(calls: int) -> dict[str, float]:
    """Nanoseconds of each step for each call, and of the whole."""
    from bench.peers.governed_app import build  # noqa: PLC0415 - only the sample's own process needs it
    from mcp_core import Request  # noqa: PLC0415
    from mcp_core.calling import pipeline, recording  # noqa: PLC0415

    spent: Counter[str] = Counter()
    for step in STEPS:
        module = pipeline if hasattr(pipeline, step) else recording
        setattr(module, step, timed(step, getattr(module, step), spent))
    async with build(1) as app:
        for number in range(calls):
            if number == calls // 5:
                spent.clear()
                started = time.perf_counter_ns()
            await app.answer(Request("add", {"a": number, "b": 2}, app.local_caller))
        whole = time.perf_counter_ns() - started
    counted = calls - calls // 5
    return {step: spent[step] / counted / 1000 for step in STEPS} | {"whole": whole / counted / 1000}


def timed(step: str, function: Any, spent: Counter[str]) -> Any:
    now = time.perf_counter_ns

    async def waited(*args: Any, **kwargs: Any) -> Any:
        started = now()
        try:
            return await function(*args, **kwargs)
        finally:
            spent[step] += now() - started

    def called(*args: Any, **kwargs: Any) -> Any:
        started = now()
        try:
            return function(*args, **kwargs)
        finally:
            spent[step] += now() - started

    is_async = inspect.iscoroutinefunction(function) or function.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE
    return waited if is_async else called


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(int(sys.argv[1])))))
