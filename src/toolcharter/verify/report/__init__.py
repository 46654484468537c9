"""What came out, in one format a file: each has `render(outcome) -> str`."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from toolcharter.verify.outcome import Outcome

FORMATS: Mapping[str, str] = {
    "text": ".txt",
    "json": ".json",
    "sarif": ".sarif",
    "junit": ".xml",
    "markdown": ".md",
    "html": ".html",
}
"""Each format, and how files of it are called."""


def render(outcome: Outcome, format: str) -> str:
    """The report. Only the format that is asked for is loaded."""
    return import_module(f"{__name__}.{format}").render(outcome)


def format_for(file: Path) -> str | None:
    """The format that the name of a file asks for."""
    return next((name for name, suffix in FORMATS.items() if file.suffix == suffix), None)
