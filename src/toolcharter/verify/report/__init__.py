"""Reports of a VerifyResult. Each format is a module with `render(result) -> str`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from toolcharter.verify.report import html, json, junit, markdown, sarif, text
from toolcharter.verify.result import VerifyResult


class ReportFormat(NamedTuple):
    """The suffix of its files, and the function that renders it."""

    suffix: str
    render: Callable[[VerifyResult], str]


FORMATS: Mapping[str, ReportFormat] = {
    "text": ReportFormat(".txt", text.render),
    "json": ReportFormat(".json", json.render),
    "sarif": ReportFormat(".sarif", sarif.render),
    "junit": ReportFormat(".xml", junit.render),
    "markdown": ReportFormat(".md", markdown.render),
    "html": ReportFormat(".html", html.render),
}


def render(result: VerifyResult, format: str) -> str:
    """The report in a format."""
    return FORMATS[format].render(result)


def format_for(file: Path) -> str | None:
    """The format that the suffix of a file stands for."""
    return next((name for name, one in FORMATS.items() if file.suffix == one.suffix), None)
