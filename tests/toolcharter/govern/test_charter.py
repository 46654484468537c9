import re
from pathlib import Path

import pytest

from mcp_core.declare.spec import RateLimit
from mcp_core.process.start_errors import InvalidSetting
from toolcharter.govern import charter as charter_module
from toolcharter.govern.charter import is_name, parse_rate, read_charter
from toolcharter.govern.charter_file import add_upstream, deny_tools, remove_upstream


def test_the_example_of_the_module_is_a_charter(tmp_path: Path):
    path = tmp_path / "charter.toml"
    path.write_text("\n".join((charter_module.__doc__ or "").splitlines()[2:]), encoding="utf-8")
    charter = read_charter(path)
    assert charter.upstream["github"].secrets == {"GITHUB_TOKEN": "keyring:github"}
    assert charter.upstream["docs"].url == "https://docs.example/mcp"
    assert charter.tools["github:delete_*"].rate_limit == "10/minute"
    assert charter.tools["files:write_file"].arguments == {"path": {"folder": "/home/ana/work"}}


SERVER = '[upstream.files]\ncommand = ["files"]\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SERVER + 'comand = ["x"]\n', "line 3: upstream.files.comand: is not a known key. Did you mean command?"),
        ("[upstream.files]\nper = 'server'\n", "line 1: upstream.files: needs either command or url."),
        (SERVER + 'url = "https://x"\n', "line 1: upstream.files: needs either command or url."),
        (SERVER + 'per = "user"\n', "line 3: upstream.files.per: input should be 'server' or 'caller', got 'user'."),
        (SERVER + 'secrets = { A_KEY = "s3cret" }\n', "secrets.A_KEY: must say where the secret is: env:NAME, keyring"),
        (SERVER + '[tools."files:*"]\nrate_limit = "10"\n', 'line 4: tools."files:*".rate_limit: must look like 10/'),
        (SERVER + '[tools."files:*"]\nconsent = true\n', 'line 4: tools."files:*".consent: input should be'),
        (SERVER + '[tools.read]\nallow = true\n', 'tools."read": a pattern is SERVER:TOOL'),
        (SERVER + '[tools."a:b".answers]\nredact = ["("]\n', "redact: '(' is not a regular expression"),
        (SERVER + '[tools."a:b"]\narguments.path = { folder = "work" }\n', "folder 'work' must be an absolute path"),
        ('[upstream.all]\ncommand = ["x"]\n', "upstream 'all': this is the address of all servers together"),
        ('[upstream."My Files"]\ncommand = ["x"]\n', "a name has lower-case letters, digits and '-'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_key(tmp_path: Path, text: str, problem: str):
    path = tmp_path / "charter.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidSetting) as raised:
        read_charter(path)
    assert problem in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_a_rate_is_read_as_it_is_said():
    assert parse_rate("10/minute") == RateLimit(10, 60_000)
    assert parse_rate("100 / 5 minutes") == RateLimit(100, 300_000)
    assert parse_rate("1/day") == RateLimit(1, 86_400_000)


def test_changes_of_the_file_keep_its_comments_and_order(tmp_path: Path):
    path = tmp_path / "charter.toml"
    path.write_text(f'# mine\n{SERVER}# why\n[tools."files:write"]\nconsent = "required"  # always\n', encoding="utf-8")
    add_upstream(path, "docs", {"url": "https://docs.example/mcp"})
    deny_tools(path, ["files:write", "files:delete_*"])
    text = path.read_text(encoding="utf-8")
    assert [comment for comment in ("# mine", "# why", "# always") if comment not in text] == []
    charter = read_charter(path)
    assert list(charter.upstream) == ["files", "docs"]
    assert charter.tools["files:write"].consent == "required"
    assert [charter.tools[name].deny for name in ("files:write", "files:delete_*")] == [True, True]
    remove_upstream(path, "files")
    assert list(read_charter(path).upstream) == ["docs"]
    assert "# mine" in path.read_text(encoding="utf-8")


def test_a_change_that_would_not_be_valid_changes_nothing(tmp_path: Path):
    path = tmp_path / "charter.toml"
    path.write_text(SERVER, encoding="utf-8")
    with pytest.raises(InvalidSetting, match="input should be a valid list"):
        add_upstream(path, "other", {"command": "not a list"})
    assert path.read_text(encoding="utf-8") == SERVER
    assert [file.name for file in tmp_path.iterdir()] == ["charter.toml"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ('oauth = { client_secret = "env:X" }', "client_secret needs client_id, and issuer"),
        ('oauth = { grant = "client_credentials" }', "grant = client_credentials needs client_id, client_secret"),
        ("oauth = {}\npass_token = true", "oauth and pass_token exclude each other"),
        ('pass_token = true\nsecrets = { authorization = "env:X" }', "pass_token and secrets.Authorization exclude"),
        ('oauth = { clientid = "x" }', "Did you mean client_id?"),
    ],
)
def test_a_request_has_one_token_from_one_complete_source(tmp_path: Path, fields: str, problem: str):
    path = tmp_path / "charter.toml"
    path.write_text(f'[upstream.docs]\nurl = "https://docs.example/mcp"\n{fields}\n', encoding="utf-8")
    with pytest.raises(InvalidSetting, match=re.escape(problem)):
        read_charter(path)


def test_a_server_cannot_be_added_as_all():
    assert [is_name(name) for name in ("all", "all-of-it")] == [False, True]
