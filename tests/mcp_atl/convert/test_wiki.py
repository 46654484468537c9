"""Markdown to wiki markup, which Data Center Jira has, and back."""

import pytest
from hypothesis import given, settings

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import children
from mcp_atl.convert.wiki_reader import wiki_to_document
from mcp_atl.convert.wiki_writer import document_to_wiki
from tests.mcp_atl.convert.markdown_texts import MARKDOWN, SAMPLES, SOUP
from tests.mcp_atl.convert.wiki_meaning import said
from tests.thorough import examples


def to_wiki(markdown: str) -> str:
    return document_to_wiki(MarkdownReader().document(markdown))


def from_wiki(markup: str) -> str:
    return MarkdownWriter().blocks(children(wiki_to_document(markup)))


@pytest.mark.parametrize(
    ("markdown", "wiki"),
    [
        ("# Title\n\nText", "h1. Title\n\nText"),
        ("*em*, **strong**, ~~strike~~, <u>u</u>", "_em_, *strong*, -strike-, +u+"),
        ("in**side** H<sub>2</sub>O", "in{*}side{*} H{~}2{~}O"),
        ("`a` and `b|c{d}`", "{{a}} and {{b&#124;c&#123;d&#125;}}"),
        ("[x](https://x.org) https://x.org/a", "[x|https://x.org] [https://x.org/a]"),
        ("- a\n  1. b\n     - c\n- d", "* a\n*# b\n*#* c\n* d"),
        ("1. a\\\n   second line\n2. b", "# a\nsecond line\n# b"),
        ("1. a\n\n   ```py\n   x\n\n   y\n   ```\n\n2. b", "# a\n{code:py}\nx\n\ny\n{code}\n# b"),
        ("- [ ] a\n- [x] b\n  - [ ] c", "* ☐ a\n* ☑ b\n** ☐ c"),
        ("> quote\n>\n> - a", "{quote}\nquote\n\n* a\n{quote}"),
        ("> [!NOTE]\n> ```\n> {info}\n> ```", "{info}\n{code}\n{info}\n{code}\n{info}"),
        (
            "<details><summary>A</summary>\n\na\n\n<details><summary>B</summary>\n\nb\n\n</details>\n\n</details>",
            "{panel:title=A}\na\n\n{panel:title=B}\nb\n{panel}\n{panel}",
        ),
        (
            "| A | B |\n| --- | --- |\n| `x\\|y` | [l](https://x.org) \\| z |\n|  | e<br>f |",
            "||A||B||\n|{{x&#124;y}}|[l|https://x.org] \\| z|\n| |e \\\\ f|",
        ),
        ("@[ana](accountid:ana) :smile:", "[~ana] :smile:"),
        ("C:\\dir\\{x} \\*a\\* 2 - 1", "C:&#92;dir\\{x\\} \\*a\\* 2 - 1"),
        ("![](<https://x.org/i.png>)", "!https://x.org/i.png!"),
        ("---", "----"),
        ("- ```\n  x\n  ```\n\n  after", "* {code}\nx\n{code}\nafter"),
        ("> `code`\n\nafter", "{quote}\n{{code}}\n{quote}\n\nafter"),
        ("**#**", "{*}#{*}"),
        ("**[*x*](https://x.org)**", "[{_}*x*{_}|https://x.org]"),
        ("[https\\://bank.example](https://evil.example)", "[https://bank.example|https://evil.example]"),
        ("<sub>[x](https://x.org)</sub>", "[{~}x{~}|https://x.org]"),
        ("https\\://x.org", "https&#58;//x.org"),
    ],
)
def test_markdown_and_wiki_markup_say_the_same(markdown: str, wiki: str):
    assert to_wiki(markdown) == wiki
    assert MarkdownReader(make_id=str).document(from_wiki(wiki)) == MarkdownReader(make_id=str).document(markdown)


@pytest.mark.parametrize(
    ("wiki", "markdown"),
    [
        ("bq. said", "> said"),
        ("{color:red}red{color} text", "red text"),
        ("{noformat}a *b*{noformat}", "```\na *b*\n```"),
        ("- a\n-- b", "- a\n  - b"),
        ("|a|b|", "{{table#"),
        ("{code:title=x|java}\ny\n{code}", "```\ny\n```"),
        ("{quote}no end", "> no end"),
        ("[^file.txt] and !shot.png|thumbnail!", "[^file.txt](^file.txt) and [shot.png](shot.png)"),
        ("a-b and 3*4*5, wow!great!", "a-b and 3\\*4\\*5, wow!great!"),
    ],
)
def test_what_people_write_in_jira_is_read(wiki: str, markdown: str):
    assert from_wiki(wiki).startswith(markdown)


@pytest.mark.parametrize("markdown", SAMPLES.values(), ids=SAMPLES.keys())
def test_what_was_read_once_stays_the_same(markdown: str):
    once = from_wiki(to_wiki(markdown))
    assert from_wiki(to_wiki(once)) == once


@pytest.mark.parametrize("markdown", SAMPLES.values(), ids=SAMPLES.keys())
def test_what_agents_write_keeps_its_meaning(markdown: str):
    check_meaning(markdown)


@given(markdown=MARKDOWN)
@settings(max_examples=examples(1000))
def test_markdown_keeps_its_meaning(markdown: str):
    check_meaning(markdown)


@given(markdown=SOUP)
@settings(max_examples=examples(1000))
def test_even_broken_markdown_keeps_its_meaning(markdown: str):
    check_meaning(markdown)


def check_meaning(markdown: str) -> None:
    """What was written as wiki markup and read again says the same, as far as wiki markup can say it."""
    document = MarkdownReader().document(markdown)
    markup = document_to_wiki(document)
    assert said(wiki_to_document(markup)) == said(document), markup
