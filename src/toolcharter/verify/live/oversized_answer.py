from collections.abc import Iterable

from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import CHARACTERS_IN_A_TOKEN, Server

MOST_TOKENS = 25_000


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for tool, exchanges in observed.by_tool():
        sizes = [len(exchange.answer.text) for exchange in exchanges if exchange.answer is not None]
        tokens = max(sizes, default=0) // CHARACTERS_IN_A_TOKEN
        if tokens > MOST_TOKENS:
            yield Found(f"an answer has about {tokens:,} tokens, of at most {MOST_TOKENS:,}", tool=tool)


RULE = Rule(
    id="LIV011",
    name="oversized-answer",
    family="live",
    severity="warning",
    what="An answer has more than about 25,000 tokens.",
    why="Clients cut it or refuse it; where they do not, it fills the model's window and is paid for in every turn.",
    fix="Answer in pages with a small default, and let the caller choose the fields.",
    check_live=check,
)
