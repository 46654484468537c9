"""Signals that come at bad moments, in processes of their own."""

import subprocess
import sys

import pytest

INTERRUPTED_THREAD = """
import asyncio, signal, threading, time
from mcp_core.process.interrupt import run_interruptible

def interrupt():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

async def main():
    threading.Thread(target=interrupt).start()
    await asyncio.sleep(60)

run_interruptible(main())
"""
IGNORED = """
import asyncio, os, signal
from mcp_core.process.interrupt import run_interruptible

async def main():
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(0.1)
    print("goes on")

signal.signal(signal.SIGINT, signal.SIG_IGN)
run_interruptible(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal goes to one thread only on POSIX")
def test_ctrl_c_wakes_an_event_loop_that_another_thread_takes_the_signal_for():
    assert ended(INTERRUPTED_THREAD).stderr.endswith("KeyboardInterrupt\n")


def test_a_command_whose_parent_ignores_ctrl_c_goes_on():
    done = ended(IGNORED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "goes on\n", "")


def ended(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
