"""Print where the tests of modules are.

    python tools/tests_of.py src/mcp_core/calling/bound.py
    .venv/bin/pytest $(python tools/tests_of.py $(git diff --name-only main -- src))

1. What a line `Tests: tests/...` in the module, or in the `__init__.py` of its room, names.
2. `tests/ROOM/test_NAME.py` for `src/ROOM/NAME.py`, or the file with that name in a folder above it.
3. `tests/test_ROOM.py`, which tests a whole room.
4. The test files that import the module.
5. The folder `tests/ROOM/`, or the one above it: its tests use the module through others.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMED = re.compile(r"^Tests: (\S+)$", re.MULTILINE)


def folders_of(path: Path) -> Iterator[Path]:
    """The folders of tests for a module, from the one that mirrors its room up to that of its package."""
    room = path.relative_to(ROOT / "src").parent
    return (ROOT / "tests" / folder for folder in (room, *room.parents) if folder.parts)


def find_by_name(path: Path) -> Path | None:
    """The test file that a module names, that has its name, or else that of its room."""
    for module in (path, path.with_name("__init__.py")):
        if line := NAMED.search(module.read_text(encoding="utf-8")):
            return ROOT / line[1]
    name = path.parent.name if path.stem == "__init__" else path.stem
    folders = list(folders_of(path))
    named = [folder / f"test_{name}.py" for folder in folders]
    rooms = [folder.parent / f"test_{folder.name}.py" for folder in folders]
    return next((test for test in (*named, *rooms) if test.is_file()), None)


def find_by_import(path: Path) -> list[Path]:
    """The test files that import a module."""
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    room, name = ".".join(parts[:-1]), parts[-1]
    module = re.escape(room if name == "__init__" else f"{room}.{name}")
    ways = (f"from {module} ", f"import {module}\\b", f"from {re.escape(room)} import .*\\b{name}\\b")
    imported = re.compile(f"^ *(?:{'|'.join(ways)})", re.MULTILINE)
    tests = (ROOT / "tests").rglob("test_*.py")
    return sorted(test for test in tests if imported.search(test.read_text(encoding="utf-8")))


def find_tests(path: Path) -> list[Path]:
    """The test files of a module, or the folder of them."""
    named = find_by_name(path)
    folders = (folder for folder in folders_of(path) if any(folder.glob("test_*.py")))
    return [named] if named else find_by_import(path) or [next(folders)]


def main(paths: Iterable[str]) -> None:
    found = dict.fromkeys(test for path in paths for test in find_tests(Path(path).resolve()))
    print("\n".join(str(test.relative_to(ROOT)) for test in found))


if __name__ == "__main__":
    main(sys.argv[1:])
