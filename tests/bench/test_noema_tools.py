"""The calls that are measured in a large collection exist, and the page compares them with their targets."""

from bench.noema_tools import CALLS, Figures, page
from mcp_core import Settings
from mcp_noema.app import build


def test_the_measured_calls_have_valid_arguments():
    specs = {spec.name: spec for spec in build(Settings()).registry.get_all()}
    for call in CALLS:
        specs[call.tool].parameters.model_validate(call.arguments)
        assert call.writes is (specs[call.tool].category == "mutation" and not call.long)


def test_a_call_without_a_bound_on_its_time_may_take_long_and_use_more_memory():
    fast = next(index for index, call in enumerate(CALLS) if not call.long)
    long = next(index for index, call in enumerate(CALLS) if call.long)
    slow = Figures(wall=9.0, cpu=9.0, before=66, peak=200)
    rows = [line for line in page({fast: slow, long: slow}, "make bench", "A machine.").splitlines() if "9.00" in line]
    assert [row.rsplit("|", 2)[1].strip() for row in rows] == ["**missed**", "met"]
