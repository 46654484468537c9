from toolcharter.call_log.counts import MAX_NAMES, OTHER, QUARTER, Counts


def test_callers_who_make_up_names_do_not_make_the_counts_grow():
    counts, kept, each = Counts(), 0, MAX_NAMES // QUARTER * 2
    for minute in range(QUARTER):  # each is written by itself
        for n in range(each):
            counts.add((minute, "s", "add", "user:a", f"agent {minute} {n}", "ok", False, 40), 2)
        taken = counts.take()
        assert sum(calls for calls, _ in taken.values()) == each
        assert sum(tokens for _, tokens in taken.values()) == 2 * each
        kept += sum(key.agent != OTHER for key in taken)
    assert kept == MAX_NAMES
    counts.add((QUARTER, "s", "add", "user:a", "agent of the next quarter", "ok", False, 40), 2)
    assert [key.agent for key in counts.take()] == ["agent of the next quarter"]
    assert counts.take() == {}
