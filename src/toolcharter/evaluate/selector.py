"""An offline selector: it gives each tool a score for what a person says."""

from collections.abc import Sequence
from typing import Protocol

from mcp_core.declare.listed import ListedTool


class Selector(Protocol):
    """Scores above 0 are similar; how far above is a matter of each selector."""

    @property
    def name(self) -> str:
        """The name in reports."""
        ...

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One row for each utterance, with one score for each tool."""
        ...
