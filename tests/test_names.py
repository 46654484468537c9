"""Each class name has one meaning in all of `src/`."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLASS = re.compile(r"^ *class (\w+)[(:]", re.MULTILINE)
ALLOWED = {
    "App": "toolcharter.App is the framework's App with what the framework must not import: hosts and a client",
}
"""Names that two classes have, and why."""


def class_names(folder: Path) -> dict[str, list[str]]:
    """The modules that define a class of each name."""
    found = defaultdict[str, list[str]](list)
    for path in sorted(folder.rglob("*.py")):
        for name in CLASS.findall(path.read_text(encoding="utf-8")):
            found[name].append(str(path.relative_to(folder)))
    return found


def test_each_class_name_has_one_meaning():
    names = class_names(ROOT / "src")
    assert len(names) > 1000
    assert {name: paths for name, paths in names.items() if len(paths) > 1 and name not in ALLOWED} == {}
    assert [name for name in ALLOWED if len(names[name]) < 2] == []


def test_a_second_class_of_a_name_is_found(tmp_path: Path):
    (tmp_path / "one.py").write_text("class Page: ...")
    (tmp_path / "two.py").write_text("def made():\n    class Page: ...")
    assert class_names(tmp_path) == {"Page": ["one.py", "two.py"]}
