import re
import signal
import threading
import time

import pytest

from toolcharter.verify.live.cpu_limit import CannotLimitCpu, CpuLimitExceeded, run_with_cpu_limit


def count_forever():
    number = 0
    while True:
        try:
            number += 1
        except Exception:  # noqa: BLE001 - such code must be stopped too
            number = 0


class Destroyed:
    def __del__(self):
        """Use the CPU for longer than the limit. Python ignores what is raised here."""
        started = time.process_time()
        while time.process_time() - started < 0.2:
            pass


def destroy_and_count():
    Destroyed()
    count_forever()


def test_the_value_of_a_function_is_returned_and_an_exception_raised():
    assert run_with_cpu_limit(lambda: 5, 10) == 5
    with pytest.raises(ZeroDivisionError):
        run_with_cpu_limit(lambda: 1 / 0, 10)


@pytest.mark.parametrize(
    "function", [lambda: re.search(r"^(a|aa)+$", "a" * 60 + "!"), count_forever, destroy_and_count]
)
def test_code_that_needs_too_long_is_stopped(function):
    started = time.process_time()
    with pytest.raises(CpuLimitExceeded, match="stopped after"):
        run_with_cpu_limit(function, 0.05)
    assert time.process_time() - started < 5


def test_the_timer_and_the_handler_are_removed():
    before = signal.getsignal(signal.SIGVTALRM)
    run_with_cpu_limit(lambda: 5, 10)
    assert (signal.getsignal(signal.SIGVTALRM), signal.getitimer(signal.ITIMER_VIRTUAL)[0]) == (before, 0)


def test_code_that_cannot_be_stopped_is_not_run():
    raised = []

    def run():
        try:
            run_with_cpu_limit(count_forever, 10)
        except CannotLimitCpu as error:
            raised.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert raised == ["code can be stopped only in the main thread of a POSIX system"]
