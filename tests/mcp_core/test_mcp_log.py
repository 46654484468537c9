import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_core import mcp_log
from mcp_core.mcp_log import (
    REDACTED,
    TRACE_LEVEL,
    JsonFormatter,
    LogContext,
    TextFormatter,
    configure,
    get_logger,
    is_secret_name,
    redact,
    redact_text,
    reset_log_context,
    set_log_context,
)

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"
MARK = LogContext("trace1", "correlation1")


@pytest.fixture
def _own_logging() -> Iterator[None]:
    """Leave the logging of the test run as it was found."""
    root = logging.getLogger()
    names = ("mcp", "uvicorn", "fastmcp", "httpx2", "sse_starlette")
    handlers, level, levels = root.handlers[:], root.level, [logging.getLogger(name).level for name in names]
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, kept in zip(names, levels, strict=True):
        logging.getLogger(name).setLevel(kept)


def record_of(
    message: str = "Hello", *args: Any, error: BaseException | None = None, **extra: Any
) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("cards", logging.INFO, __file__, 1, message, args, exc_info)
    record.__dict__.update(extra)
    return record


def as_text(record: logging.LogRecord, mark: LogContext | None = None) -> str:
    return formatted(TextFormatter(), record, mark)


def as_json(record: logging.LogRecord, mark: LogContext | None = None) -> str:
    return formatted(JsonFormatter(), record, mark)


def formatted(formatter: logging.Formatter, record: logging.LogRecord, mark: LogContext | None) -> str:
    if mark is None:
        return formatter.format(record)
    token = set_log_context(mark)
    try:
        return formatter.format(record)
    finally:
        reset_log_context(token)


# --- the level -------------------------------------------------------------------------------------


@pytest.mark.requirement("LOG-1")
def test_trace_is_a_level_below_debug_that_a_logger_made_by_others_has_too(caplog: pytest.LogCaptureFixture):
    assert TRACE_LEVEL == 5 < logging.DEBUG
    assert (logging.getLevelName(TRACE_LEVEL), logging.getLevelName("TRACE")) == ("TRACE", TRACE_LEVEL)
    caplog.set_level(TRACE_LEVEL)
    assert get_logger("made.by.others") is logging.getLogger("made.by.others")
    for logger in (get_logger("cards"), get_logger("made.by.others"), get_logger("")):
        logger.trace("Tool called: %s", "add", extra={"n": 1})
    seen = [(r.name, r.levelname, r.getMessage(), r.n, r.funcName) for r in caplog.records]  # pyright: ignore[reportAttributeAccessIssue]
    here = "test_trace_is_a_level_below_debug_that_a_logger_made_by_others_has_too"
    assert seen == [(name, "TRACE", "Tool called: add", 1, here) for name in ("cards", "made.by.others", "root")]


@pytest.mark.requirement("LOG-1")
def test_trace_is_silent_where_the_level_is_higher(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    get_logger("cards").trace("quiet")
    assert caplog.records == []
    assert get_logger("cards") is logging.getLogger("cards")


# --- formats ---------------------------------------------------------------------------------------


@pytest.mark.requirement("LOG-7")
def test_a_text_line_has_time_level_name_message_and_fields():
    line = as_text(record_of("Hello %s", "Ada", arguments={"n": 1}, note="é"))
    assert re.fullmatch(rf'{TIME} INFO cards Hello Ada arguments={{"n": 1}} note="é"', line)


@pytest.mark.requirement("LOG-7")
def test_a_json_line_has_time_level_name_message_and_fields():
    entry = json.loads(as_json(record_of("Hello %s", "Ada", arguments={"n": 1}, note="é")))
    assert re.fullmatch(TIME, entry.pop("time"))
    assert entry == {
        "level": "INFO",
        "logger": "cards",
        "message": "Hello Ada",
        "fields": {"arguments": {"n": 1}, "note": "é"},
    }


@pytest.mark.requirement("LOG-7")
def test_the_lines_of_a_call_carry_its_ids_and_the_next_ones_do_not():
    assert " trace=trace1 correlation=correlation1 Hello" in as_text(record_of(), MARK)
    entry = json.loads(as_json(record_of(), MARK))
    assert (entry["traceId"], entry["correlationId"]) == ("trace1", "correlation1")
    assert "trace" not in as_text(record_of())
    assert "traceId" not in json.loads(as_json(record_of()))


@pytest.mark.requirement("LOG-7")
def test_a_stack_trace_is_kept_with_each_line_marked():
    fault = ValueError("first\n2026-01-01T00:00:00.000+00:00 INFO cards faked\x1b[2J")
    head, *rows = as_text(record_of(error=fault)).split("\n")
    assert re.fullmatch(rf"{TIME} INFO cards Hello", head)
    assert rows == [
        "    | ValueError: first",
        "    | 2026-01-01T00:00:00.000+00:00 INFO cards faked\\x1b[2J",
    ]
    assert json.loads(as_json(record_of(error=fault)))["stack"] == f"ValueError: {fault}"


ANY_TEXT = st.text(st.characters())
FORGED = "x\n2026-01-01 00:00:00.000 ERROR cards faked"


@pytest.mark.requirement("LOG-7")
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
@example(FORGED, FORGED, FORGED)
@example("a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i\rj", "\x9b2J", "\x00")
def test_one_record_is_one_line_whatever_is_in_it(message: str, field: str, correlation: str):
    record, mark = record_of("%s", message, field=field), LogContext("t", correlation)
    text, entry = as_text(record, mark), as_json(record, mark)
    assert len(text.splitlines()) == len(entry.splitlines()) == 1
    assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", text)
    assert json.loads(entry)["correlationId"] == correlation


@pytest.mark.requirement("LOG-7")
def test_line_breaks_are_shown_as_escapes():
    assert as_text(record_of("a\nb\r\nc\td")).endswith(" INFO cards a\\nb\\r\\nc\td")


@pytest.mark.requirement("LOG-7")
@pytest.mark.parametrize("format", [as_text, as_json])
def test_a_field_that_is_no_json_is_written_as_text(format: Any):
    assert "Path" not in format(record_of(where=Path("/tmp/x"), kind={1: (2, {3})}))
    assert "/tmp/x" in format(record_of(where=Path("/tmp/x")))


# --- where it goes ---------------------------------------------------------------------------------


@pytest.mark.requirement("LOG-7")
@pytest.mark.parametrize("as_json_too", [False, True])
def test_logs_go_to_stderr_and_never_to_stdout(as_json_too: bool):
    code = (
        "from mcp_core.mcp_log import configure, get_logger\n"
        f"configure('TRACE', as_json={as_json_too})\n"
        "get_logger('cards').trace('one')\n"
        "get_logger('cards').critical('two')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    if as_json_too:
        shown = [(entry["level"], entry["message"]) for entry in map(json.loads, lines)]
    else:
        shown = [tuple(line.split()[1::2]) for line in lines]
    assert shown == [("TRACE", "one"), ("CRITICAL", "two")]


@pytest.mark.requirement("LOG-7")
@pytest.mark.usefixtures("_own_logging")
def test_a_log_file_survives_rotation(tmp_path: Path):
    file, rotated = tmp_path / "server.log", tmp_path / "server.log.1"
    configure("INFO", file=file)
    logger = get_logger("cards")
    logger.info("one")
    file.rename(rotated)
    logger.info("two")
    file.unlink()
    logger.info("three")
    logger.debug("not shown")
    assert rotated.read_text().endswith(" INFO cards one\n")
    assert re.fullmatch(rf"{TIME} INFO cards three\n", file.read_text())


@pytest.mark.usefixtures("_own_logging")
def test_a_full_disk_is_one_line_on_stderr_and_no_error_of_the_caller(capsys: pytest.CaptureFixture[str]):
    configure("INFO", file=Path("/dev/full"))
    logger = get_logger("cards")
    for _ in range(5):
        logger.info("one")
    with suppress(OSError):  # what could not be written is tried again
        logging.getLogger().handlers[0].close()
    assert capsys.readouterr().err == "The log file /dev/full cannot be written: No space left on device\n"


@pytest.mark.requirement("LOG-7")
@pytest.mark.usefixtures("_own_logging")
@pytest.mark.parametrize("as_json_too", [False, True])
def test_a_log_file_takes_half_a_character(tmp_path: Path, as_json_too: bool):
    file = tmp_path / "server.log"
    configure("INFO", file=file, as_json=as_json_too)
    get_logger("cards").info("a\ud800b")
    assert "a\\ud800b" in file.read_text()


@pytest.mark.requirement("LOG-7")
@pytest.mark.usefixtures("_own_logging")
def test_configuring_again_replaces_the_first_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    configure("INFO", file=tmp_path / "first.log")
    configure("INFO", file=tmp_path / "second.log", as_json=True)
    get_logger("cards").info("one")
    assert (tmp_path / "first.log").read_text() == ""
    assert json.loads((tmp_path / "second.log").read_text())["message"] == "one"
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("_own_logging")
def test_libraries_are_quiet_unless_they_are_asked_for():
    configure("INFO")
    assert [logging.getLogger(name).level for name in ("mcp", "uvicorn", "fastmcp", "httpx2")] == [logging.WARNING] * 4
    configure("TRACE")
    assert [logging.getLogger(name).level for name in ("mcp", "uvicorn")] == [TRACE_LEVEL] * 2
    assert logging.getLogger("fastmcp").level >= logging.INFO
    configure("ERROR")
    assert logging.getLogger("mcp").level == logging.ERROR


# --- secrets ---------------------------------------------------------------------------------------


@pytest.mark.requirement("LOG-6")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2", "password=[redacted]"),
        ("PASSWORD: hunter2, then", "PASSWORD: [redacted], then"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[redacted] psql"),
        ("api_key=k1&x=2", "api_key=[redacted]&x=2"),
        ("X-Api-Key: k1", "X-Api-Key: [redacted]"),
        ("apikey=k1", "apikey=[redacted]"),
        ("OPENAI_API_KEY=sk-1", "OPENAI_API_KEY=[redacted]"),
        ('{"accessToken": "abc", "n": 1}', '{"accessToken": [redacted], "n": 1}'),
        ("{'clientSecret': 'a b', 'n': 1}", "{'clientSecret': [redacted], 'n': 1}"),
        (r'{"password": "a\"b"}', '{"password": [redacted]}'),
        ("token = abc", "token = [redacted]"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: [redacted] [redacted]"),
        ("Authorization: Basic YWJjOmRlZg==", "Authorization: [redacted] [redacted]"),
        ("Authorization: token ghp_abc", "Authorization: [redacted] [redacted]"),
        ("bearer abcdef said no", "bearer [redacted] said no"),
        ("Cookie: a=b; session=xyz", "Cookie: [redacted]"),
        ("Set-Cookie: session=xyz; Path=/", "Set-Cookie: [redacted]"),
        ("postgresql://ada:hunter2@db/cards", "postgresql://ada:[redacted]@db/cards"),
        ("postgresql://ada:hun@ter2@db/cards", "postgresql://ada:[redacted]@db/cards"),
        ("redis://:hunter2@cache:6379/0", "redis://:[redacted]@cache:6379/0"),
        ("https://ghp_abc@github.com/x", "https://[redacted]@github.com/x"),
    ],
)
def test_what_looks_like_a_credential_is_blotted_out(text: str, shown: str):
    assert redact_text(text) == shown


@pytest.mark.requirement("LOG-6")
@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=5",
        "the token has expired",
        "https://example.org/a?b=c",
        "http://127.0.0.1:8000/mcp",
        "ask user@example.org",
        "passed: 3",
        "Tool called: add",
    ],
)
def test_what_is_no_credential_is_left_as_it_is(text: str):
    assert redact_text(text) == text


@pytest.mark.requirement("LOG-6")
@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in ("password", "userPassword", "PGPASSWORD", "passwd", "db_pwd", "passphrase")),
        *((name, True) for name in ("token", "tokens", "access_token", "accessToken", "X-Auth-Token", "id.token")),
        *((name, True) for name in ("api_key", "apiKey", "APIKey", "api-keys", "access_key", "privateKey")),
        *((name, True) for name in ("clientSecret", "secrets", "Authorization", "credential", "credentials")),
        *((name, True) for name in ("cookie", "Set-Cookie")),
        *((name, False) for name in ("max_tokens", "tokenizer", "secretary", "author", "key", "name", "")),
    ],
)
def test_a_name_is_secret_when_one_of_its_words_is(name: str, secret: bool):
    assert is_secret_name(name) is secret


@pytest.mark.requirement("LOG-6")
def test_a_redacted_value_is_a_copy_without_secrets_at_any_depth():
    value = {
        "user": "ada",
        "password": "hunter2",
        "login": {"apiKey": ["k1", "k2"], "pin": 1234, "n": 5},
        "urls": ("https://u:p@host/", "https://host/"),
        "note": "says hunter3",
        1: None,
    }
    before = repr(value)
    assert redact(value, frozenset({"pin"}), ("hunter3", "5")) == {
        "user": "ada",
        "password": REDACTED,
        "login": {"apiKey": REDACTED, "pin": REDACTED, "n": REDACTED},
        "urls": [f"https://u:{REDACTED}@host/", "https://host/"],
        "note": f"says {REDACTED}",
        1: None,
    }
    assert repr(value) == before


@pytest.mark.requirement("LOG-6")
def test_a_secret_inside_another_leaves_nothing_of_it_and_an_empty_one_does_nothing():
    assert redact_text("abcdef", ("abc", "abcdef")) == REDACTED
    assert redact_text("abc", ("",)) == "abc"


@pytest.mark.requirement("LOG-6")
@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a", REDACTED),
        ("'a' is not a pin", f"'{REDACTED}' is not a pin"),
        ('{"pin": "a"}', f'{{"pin": "{REDACTED}"}}'),
        ("pin=a, tag=ab", f"pin={REDACTED}, tag=ab"),
        ("What a day at `a`", f"What a day at `{REDACTED}`"),
        ("'a\"", "'a\""),
    ],
)
def test_a_short_secret_is_hidden_where_it_stands_as_a_value_and_leaves_words_alone(text: str, hidden: str):
    assert redact_text(text, ("a",)) == hidden
    assert redact({"note": [text]}, secrets=("a",)) == {"note": [hidden]}


SECRETS = st.from_regex(r"[A-Z0-9]{8,20}", fullmatch=True)
PLACES = [
    "password={}",
    'passwd: "{}"',
    "token='{}'",
    '{{"api_key": "{}"}}',
    "Authorization: Bearer {}",
    "Authorization: Token {}",
    "Authorization: {}",
    "Cookie: a=1; b={}",
    "https://user:{}@example.org/",
    "redis://:{}@example.org",
    "https://{}@example.org/",
    "GET /?access_token={}&x=1",
    "refreshToken={}",
]


@pytest.mark.requirement("LOG-6")
@given(SECRETS, st.sampled_from(PLACES), ANY_TEXT, ANY_TEXT)
def test_a_credential_is_never_shown_wherever_it_stands(secret: str, place: str, before: str, after: str):
    text = f"{before} {place.format(secret)} {after}"
    if secret not in before + after:
        assert secret not in redact_text(text)
        assert secret not in str(redact({"note": [text]}))
        for written in (as_text, as_json):
            assert secret not in written(record_of("%s", text, note=text, odd={text}, error=ValueError(text)))


AWKWARD = st.text(st.characters(exclude_characters="[redacted]"), min_size=4).filter(lambda text: text not in "\\x00")


@pytest.mark.requirement("LOG-6")
@given(AWKWARD)
@example('a"b\\c\nd')
@example("pass word")
@example("ÄÖÜ\u2028")
def test_a_declared_secret_is_never_shown_in_any_part_of_a_record(secret: str):
    mark = LogContext("t", "c", (secret,))
    record = record_of(
        "got ⟨%s⟩",
        secret,
        field=f"⟨{secret}⟩",
        inner=[{"deep": f"⟨{secret}⟩"}],
        odd={f"⟨{secret}⟩"},
        error=ValueError(f"⟨{secret}⟩"),
    )
    escaped = json.dumps(secret, ensure_ascii=False)[1:-1]
    for line in (as_text(record, mark), as_json(record, mark)):
        for shown in (f"⟨{secret}⟩", f"⟨{escaped}⟩", f"⟨{secret.encode('unicode_escape').decode()}⟩"):
            assert shown not in line
        assert line.count(f"⟨{REDACTED}⟩") >= 3


@pytest.mark.requirement("LOG-6")
def test_another_calls_secrets_are_not_remembered():
    assert "hunter2" not in as_text(record_of("hunter2"), LogContext("t", "c", ("hunter2",)))
    assert "hunter2" in as_text(record_of("hunter2"))
    assert mcp_log._context.get() is None
