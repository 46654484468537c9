"""The answer to a client whose server cannot start: the reason and the fix, to each request until its input ends.

A client shows the error of its first request to the person. A process that just ends shows nothing.
"""

import os
import sys
import traceback

from mcp_core.errors import DeclarationError
from mcp_core.foreign.terminal import print_text
from mcp_core.hosts.fast_path.jsonrpc import decode, error_message, parse_request
from mcp_core.hosts.fast_path.opening import reason_of, start_error
from mcp_core.hosts.fast_path.pipe import MAX_LINE, is_pipe
from mcp_core.process.start_errors import CannotStart


def explained(program: str, error: Exception, *, to_client: bool) -> BaseException:
    """The exception to raise where a server cannot start, after its log, and `to_client` also the client, got why."""
    is_known = isinstance(error, CannotStart | DeclarationError)
    if not is_known and not (to_client and is_pipe(0)):
        return error
    reason = reason_of(program, error)
    if is_known:
        print_text(reason, file=sys.stderr)
    else:
        traceback.print_exception(error)
    sys.stderr.flush()
    if to_client:
        answer_requests(reason)
    return SystemExit(getattr(error, "exit_code", 1))


def answer_requests(reason: str) -> None:
    """Answer the requests of a client on stdin until it closes its side. A person in a terminal has read the reason."""
    if not is_pipe(0):
        return
    with os.fdopen(0, "rb", closefd=False) as lines:
        while line := lines.readline(MAX_LINE):
            try:
                request = parse_request(decode(line))
            except ValueError:
                continue
            if request is not None:
                try:
                    os.write(1, error_message(request.id, start_error(reason)) + b"\n")
                except OSError:  # the client has left
                    return
