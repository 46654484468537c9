"""The calls in progress by caller, so that one caller cannot take all of a server's limit."""

from mcp_core.logs.telemetry import Telemetry
from mcp_core.process.shares import Shares


class CallShares(Shares):
    """The calls of each caller. `running` counts what is in progress with all of them, as the limit does."""

    def __init__(self, bound: int, running: Telemetry) -> None:
        super().__init__(bound)
        self.running = running
