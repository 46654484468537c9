from bench import atl
from bench.atl_site import RecordedSite
from mcp_atl.app import build
from mcp_atl.settings import AtlSettings


async def test_the_recorded_site_answers_as_the_sandbox_and_asks_it_once():
    site = RecordedSite()
    async with build(AtlSettings(sandbox=True), site) as app:
        first = (await app.call(*atl.GET)).text
        site._sandbox = None
        assert (await app.call(*atl.GET)).text == first
    assert '"key":"FERRY-12"' in first
    assert site.requests >= 2


async def test_the_answers_are_at_most_half_as_long_as_those_of_the_largest_peer():
    figures = await atl._sizes()
    assert [figure.title for figure in figures if figure.value > figure.most] == []


def test_a_missed_target_is_shown_as_such():
    figures = [atl.Figure("fast", 1.5, 2), atl.Figure("slow", 3, 2), atl.Figure("without a target", 4)]
    assert atl._table(figures, 1).splitlines()[2:] == [
        "| fast | 1.5 | 2: met |",
        "| slow | 3.0 | 2: **missed** |",
        "| without a target | 4.0 |  |",
    ]
