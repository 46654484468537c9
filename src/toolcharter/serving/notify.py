"""Messages to systemd: `sd_notify`, without its library."""

import os
import socket
import time

from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)


def notify(*lines: str) -> None:
    """Send a message such as `READY=1`. Does nothing in a process that systemd did not start."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            # A name that begins with @ is in the abstract namespace.
            sender.connect("\0" + address[1:] if address.startswith("@") else address)
            sender.sendall("\n".join(lines).encode())
    except OSError as error:
        logger.warning("systemd cannot be notified: %s", error)


def notify_reloading() -> None:
    """Notify systemd that a reload has begun; `READY=1` ends it."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")


def watchdog_seconds() -> float | None:
    """How often to send `WATCHDOG=1`: twice as often as systemd requires. None if it requires none."""
    microseconds, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not microseconds.isdecimal() or (process and process != str(os.getpid())):
        return None
    return int(microseconds) / 2_000_000
