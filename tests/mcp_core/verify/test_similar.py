from hypothesis import given
from hypothesis import strategies as st

from mcp_core.verify.similar import near_duplicates
from tests.mcp_core.verify.made_up import server

TEXTS = st.lists(st.lists(st.sampled_from("abcdefghijkl"), min_size=6, max_size=9, unique=True), max_size=8)


def test_tools_that_read_alike_are_found_and_short_texts_are_not():
    seen = server(
        get_user="Get the user with this id from our store, and nothing else of it.",
        fetch_user="Fetch the user with this id from our store, and nothing else of it.",
        one="Do it.",
        two="Do it.",
        other="Write a letter and send it to somebody far away.",
    )
    assert [pair[:2] for pair in near_duplicates(seen)] == [("get_user", "fetch_user")]


@given(TEXTS)
def test_the_same_text_is_always_found_and_texts_without_a_common_word_never(texts):
    seen = server(**{f"tool_{number}": " ".join(words) for number, words in enumerate(texts)})
    words = {tool.name: tool.words for tool in seen.tools}
    pairs = near_duplicates(seen)
    repeated = {f"tool_{number}" for number, text in enumerate(texts) if text in texts[:number]}
    assert repeated <= {pair.b for pair in pairs}
    assert all(set(words[pair.a]) & set(words[pair.b]) for pair in pairs)


def test_a_crowd_that_reads_alike_is_shown_by_a_few_of_it():
    crowd = server(**{f"tool_{number:03}": "All of these tools say the very same." for number in range(300)})
    pairs = near_duplicates(crowd)
    assert {pair.b for pair in pairs} == {f"tool_{number:03}" for number in range(1, 300)}
    assert len(pairs) < 300 * 20
