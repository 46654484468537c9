"""A summary of the calls for the report: a tool that was not called is not judged by the live rules."""

from collections import defaultdict

from mcp_core.text.plurals import count
from toolcharter.verify.live.observations import Observations

_MAX_QUOTE = 120


def live_notes(observations: Observations, tools: int) -> list[str]:
    """How many of all tools were called, and which could not be judged, and why: one sentence for each cause."""
    called = len(observations.called) + len(observations.unjudged)
    notes = [f"Called {called:,} of {count(tools, 'tool')}."]
    if observations.ran_out_of_time:
        notes.append("The others were left out, because the calls took too long.")
    causes: defaultdict[str, list[str]] = defaultdict(list)
    for tool, error in observations.unjudged.items():
        causes[error[:_MAX_QUOTE]].append(tool)
    for error, names in causes.items():
        rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
        notes.append(f"Not judged, because of an error outside the server: {names[0]}{rest}: {error!r}")
    return notes
