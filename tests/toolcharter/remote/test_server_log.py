"""The log of a started server: printed line by line, bounded, and without control characters."""

import pytest

from toolcharter.remote import server_log
from toolcharter.remote.server_log import ServerLog, open_log


def write(log: ServerLog, text: str) -> None:
    log.file.write(text)
    log.file.flush()


def test_each_line_is_printed_once_and_the_rest_at_the_end(capsys: pytest.CaptureFixture[str]):
    with open_log() as log:
        write(log, "before the call\n")
        log.skip()
        write(log, "one \x1b[31m\ntw")
        log.print_new(whole_lines=True)
        assert capsys.readouterr().err == "one \\u001b[31m\n"
        write(log, "o\nthree")
        log.print_new(whole_lines=True)
        assert capsys.readouterr().err == "two\n"
        log.print_new()
        log.print_new()
        assert capsys.readouterr().err == "three\n"


def test_of_a_long_log_the_end_is_printed(capsys: pytest.CaptureFixture[str]):
    with open_log() as log:
        write(log, "".join(f"line {number}\n" for number in range(20_000)))
        log.print_new(whole_lines=True)
        lines = capsys.readouterr().err.splitlines()
        assert lines == [f"line {number}" for number in range(20_000)][-server_log.MAX_LINES :]
        write(log, "x" * 10 * server_log.MAX_BYTES)
        log.print_new(whole_lines=True)
        assert capsys.readouterr().err == "x" * server_log.MAX_BYTES + "\n"
