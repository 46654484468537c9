"""The selectors that run offline. Some need packages that may be missing."""

from contextlib import suppress

from mcp_core.process.install_command import install_command
from toolcharter.commands import CannotRun
from toolcharter.evaluate.bm25 import Bm25Selector
from toolcharter.evaluate.hybrid import HybridSelector
from toolcharter.evaluate.minilm_package import INSTALL_COMMAND
from toolcharter.evaluate.result import SelectorResult
from toolcharter.evaluate.selector import Selector

PARTS = ("bm25", "embedding", "minilm")
"""The selectors that `hybrid` combines, where installed."""


def open_selector(name: str) -> Selector:
    """The selector of this name; CannotRun if its packages are missing."""
    if name == "hybrid":
        return HybridSelector(_installed_parts())
    try:
        return _open(name)
    except ImportError as error:
        raise CannotRun(f"The selector {name} is not installed ({error}). To install it: {_install(name)}") from None


def parts_note(result: SelectorResult) -> str | None:
    """A note on the parts of a result of `hybrid`, and how to install those that are missing."""
    if not result.parts:
        return None
    note = f"{result.selector} combines the ranks of {', '.join(result.parts)}."
    missing = [name for name in PARTS if name not in result.parts]
    if missing:
        note += f" It finds more with {' and '.join(missing)}. To install: `{_install(missing[-1])}`"
    return note


def _install(name: str) -> str:
    extra = install_command("evaluate")
    return f"{extra} && {INSTALL_COMMAND}" if name == "minilm" else extra


def _installed_parts() -> list[Selector]:
    parts: list[Selector] = []
    for name in PARTS:
        with suppress(ImportError):
            parts.append(_open(name))
    return parts


def _open(name: str) -> Selector:
    if name == "embedding":
        from toolcharter.evaluate.embedding import EmbeddingSelector  # noqa: PLC0415 - 200 ms: numpy; and an extra

        return EmbeddingSelector()
    if name == "minilm":
        from toolcharter.evaluate.minilm import MiniLmSelector  # noqa: PLC0415 - the same

        return MiniLmSelector()
    return Bm25Selector()
