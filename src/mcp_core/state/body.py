"""The checked result of a call, which caches and idempotency stores keep."""

import json
from collections.abc import Callable
from typing import NamedTuple

from mcp_core.errors import ErrorKind


class Failure(NamedTuple):
    """Why a call failed, in texts that may leave the server."""

    error: str
    error_type: str
    kind: ErrorKind
    error_id: str | None = None
    exception_type: str | None = None


class Body(NamedTuple):
    """A checked result before it is put into a wire format. `data`, `hints` and `blocks` are JSON texts."""

    data: str | None = None
    failure: Failure | None = None
    message: str | None = None
    instruction: str | None = None
    hints: str | None = None
    blocks: str = ""
    """Further content blocks, such as images, with commas between them."""
    verbatim: bool = False
    """Whether the blocks are the whole answer, as another server gave it; `data` is its structured content."""

    def rename_tools(self, rename: Callable[[str], str]) -> "Body":
        """The same, with other names of tools in the texts. Hints have these names already."""
        return self._replace(
            failure=self.failure and self.failure._replace(error=rename(self.failure.error)),
            message=self.message and rename(self.message),
            instruction=self.instruction and rename(self.instruction),
        )

    def to_text(self) -> str:
        """The form in which stores outside of this process keep it."""
        return json.dumps(self._asdict() | {"failure": self.failure and self.failure._asdict()})

    @classmethod
    def from_text(cls, text: str) -> "Body":
        """The opposite of `to_text`. Raises ValueError, TypeError or KeyError for another text."""
        fields = json.loads(text)
        failure = fields["failure"] and Failure(**fields["failure"])
        return cls(**fields | {"failure": failure})
