"""Has the fork server start a program, and acts as its process: passes on signals, and exits as it does.

A copy of this file stands under the name of each command, beside the socket of the server. It imports little,
because it runs once for every server that the tests start.
"""

import marshal
import os
import select
import signal
import socket
import sys
from contextlib import suppress

SOCKET = f"{__file__.rpartition('/')[0]}/socket"


def main() -> int:
    """Return the exit code of the program, or the negative number of the signal that ended it."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(SOCKET)
        program = marshal.dumps((sys.argv, os.getcwd(), dict(os.environ)))  # noqa: PTH109 - pathlib takes 10 ms
        socket.send_fds(server, [len(program).to_bytes(4, "big")], [0, 1, 2])
        server.sendall(program)
        for stream in (0, 1, 2):
            os.close(stream)
        pid = int.from_bytes(server.recv(4), "big")
        signals = receive_signals()
        while server not in select.select([server, signals], [], [])[0]:
            for number in signals.recv(16):
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(pid, number)
        return int.from_bytes(server.recv(4), "big", signed=True)


def receive_signals() -> socket.socket:
    """Their numbers, as bytes: no signal is lost just before the wait for one begins."""
    signals, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.set_wakeup_fd(wakeup.detach())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return signals


code = main()
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
