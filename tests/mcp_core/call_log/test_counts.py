from mcp_core.call_log.counts import MOST_NAMES, OTHER, Counts


def test_callers_who_make_up_names_do_not_make_the_counts_grow():
    counts, kept = Counts(), 0
    for part in range(4):  # each is written by itself
        for n in range(200):
            counts.add((1, "s", "add", "user:a", f"agent {part} {n}", "ok", False, 40), 2)
        taken = counts.take()
        assert sum(calls for calls, _ in taken.values()) == 200
        assert sum(tokens for _, tokens in taken.values()) == 400
        kept += sum(key.agent != OTHER for key in taken)
    assert kept == MOST_NAMES
    counts.add((2, "s", "add", "user:a", "agent of the next minute", "ok", False, 40), 2)
    assert [key.agent for key in counts.take()] == ["agent of the next minute"]
    assert counts.take() == {}
