"""The count of tokens, beside those of real tokenizers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_guide.content.tokens import count_tokens, fitting_end

PROSE = "A handler raises a ToolError if it knows the cause; only the pipeline turns exceptions into answers. "
CODE = "def count_tokens(text: str) -> int:\n    return int(sum(map(_size, PIECE.findall(text))) * 1.1)\n"


@pytest.mark.parametrize(
    ("text", "largest"),
    [(PROSE * 10, 201), (CODE * 10, 360)],
    ids=["prose", "code"],
)
def test_the_count_is_a_bound_and_not_far_from_real_tokenizers(text, largest):
    """`largest` is the largest count of the tokenizers of cl100k, o200k and Anthropic."""
    assert largest <= count_tokens(text) <= 1.4 * largest


@given(st.text(max_size=300), st.integers(1, 60), st.integers(0, 20))
def test_a_part_that_fits_is_never_empty_and_never_too_long(text, tokens, start):
    start = min(start, len(text))
    end = fitting_end(text, start, tokens)
    assert start <= end <= len(text)
    assert end > start or start == len(text)
    assert count_tokens(text[start:end]) <= tokens + 2 or end == start + 1
