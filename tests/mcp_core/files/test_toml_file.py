from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from mcp_core.files.toml_file import read_toml
from mcp_core.process.start_errors import InvalidSetting


class Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    limit: int = Field(default=1, ge=1)
    words: list[str] = []


class Rules(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    rules: dict[str, Rule] = {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'title = "x"\n\n[rules.one]\nlimit = 0\n',
            "line 4: rules.one.limit: input should be greater than or equal to 1, got 0.",
        ),
        (
            'title = "x"\n[rules.one]\nlimit = 2\n[rules."two:*"]\nlimit = "2"\n',
            "line 5: rules.\"two:*\".limit: input should be a valid integer, got '2'.",
        ),
        (
            'title = "x"\n[rules.one]\nlimt = 2\n',
            "line 3: rules.one.limt: is not a known key. Did you mean limit? Known keys: limit, words.",
        ),
        ('titel = "x"\n', "line 1: title: is missing."),
        (
            'title = "x"\nrules.one.words = [\n  "a",\n  3,\n]\n',
            "line 2: rules.one.words[1]: input should be a valid string, got 3.",
        ),
        (
            'title = "x"\nrules = { one = { limit = 0 } }\n',
            "line 2: rules.one.limit: input should be greater than or equal to 1, got 0.",
        ),
    ],
)
def test_an_error_names_the_file_the_line_and_the_key(tmp_path: Path, text: str, message: str):
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidSetting) as raised:
        read_toml(path).read(Rules)
    assert str(raised.value) == f"{path}, {message}"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    path = tmp_path / "rules.toml"
    with pytest.raises(InvalidSetting, match=r"rules.toml cannot be read: No such file or directory\."):
        read_toml(path)
    path.write_bytes(b"\xff")
    with pytest.raises(InvalidSetting, match=r"rules.toml is not UTF-8 text\."):
        read_toml(path)
    path.write_text("a = \n", encoding="utf-8")
    with pytest.raises(InvalidSetting, match=r"rules.toml is not valid TOML: Invalid value \(at line 1, column 5\)\."):
        read_toml(path)


def test_a_part_of_a_file_keeps_its_place(tmp_path: Path):
    path = tmp_path / "rules.toml"
    path.write_text("[other]\n[rules.one]\nlimit = 0\n", encoding="utf-8")
    file = read_toml(path)
    with pytest.raises(InvalidSetting, match=r"line 3: rules\.one\.limit: "):
        file.read(Rule, file.content["rules"]["one"], ("rules", "one"))
