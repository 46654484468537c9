"""Writes docs/api.md: the public names."""

import importlib
import inspect
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[1] / "src" / "toolcharter"


def public_modules() -> list[str]:
    """The modules of toolcharter that authors import: those that list their names in `__all__`."""
    files = [path for path in sorted(SOURCES.glob("*.py")) if path.name != "__init__.py"]
    listed = [path.stem for path in files if "\n__all__ = " in path.read_text(encoding="utf-8")]
    return ["toolcharter", *(f"toolcharter.{name}" for name in sorted([*listed, "console"]))]


def api_page() -> str:
    """The page: each module with its names."""
    lines = ["# Public names", "", "A server imports these, and never `mcp_core`; other names may change at any time."]
    for name in public_modules():
        module = importlib.import_module(name)
        lines += ["", f"## {name}", "", _summary(module), ""]
        lines += [_name_line(each, getattr(module, each)) for each in module.__all__]
    return "\n".join(lines) + "\n"


def _summary(value: Any) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _name_line(name: str, value: Any) -> str:
    # The docstring of a constant is that of its type, and a dataclass may have only its signature.
    is_documented = inspect.isclass(value) or inspect.isroutine(value) or type(value).__module__.startswith("mcp_core")
    summary = _summary(value) if is_documented else ""
    return f"- `{name}`: {summary}" if summary and not summary.startswith(f"{name}(") else f"- `{name}`"
