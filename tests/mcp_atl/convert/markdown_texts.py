"""Markdown as agents write it, and as nobody should."""

from hypothesis import strategies as st

EACH_KIND = (
    "| A | B |\n| --- | --- |\n| a | `b` |\n\n```py\nx = 1\n```\n\n- one\n  1. two\n\n"
    "> [!WARNING]\n> Ask @[ana](accountid:ana) or see [the page](https://x.org/p?q=1)."
)
"""A table, code, lists, a panel, a mention and a link."""

SAMPLES = {
    "words that look like HTML": "A `List<String>` is a List<String>, a <div> and a Map<K, V>.",
    "generic types with a colon": "Use std::vector::iterator and Map<std:string>.",
    "an empty cell": "| A | B |\n| --- | --- |\n| 1 |  |\n|  |  |",
    "an empty item": "- \n- two\n-\n\n1.\n2. b",
    "an empty quote": ">\n\nafter",
    "an empty heading": "#\n\n## \n\nafter",
    "an empty task": "- [ ]\n- [x] \n- [ ] three",
    "an empty code block": "```\n```\n\n    indented",
    "code whose language is not a word": "~~~ `x`~~\na\n~~~\n\n~~~c++ title=x\nb\n~~~",
    "nested lists": "- a\n  1. b\n     - c\n       - d\n  2. e\n- f",
    "nested tasks": "- [ ] a\n  - [x] b\n    - [ ] c\n- [x] d",
    "tasks in a list": "1. a\n   - [ ] b\n   - [x] c\n2. d",
    "a list in a task": "- [ ] a\n  - b\n  - c",
    "a heading in a list": "- # Title\n- ## Other\n\n  text",
    "a table in a list": "- a\n\n  | A | B |\n  | --- | --- |\n  | 1 | 2 |",
    "a table in a quote": "> | A | B |\n> | --- | --- |\n> | 1 | 2 |",
    "a quote in a list": "- a\n\n  > b\n\n- c",
    "a rule in a list": "- a\n\n  ---\n\n- c",
    "a quote in a quote": "> a\n>\n> > b\n> >\n> > - c",
    "a task in a quote": "> - [ ] a\n>   - [x] b",
    "a heading in a quote": "> # A\n> text",
    "code in a list": "1. a\n\n   ```py\n   x = 1\n\n   y = 2\n   ```\n2. b",
    "panels": "> [!NOTE]\n> a\n\n> [!WARNING] b\n\n> [!CAUTION]\n>\n> - c\n\n> [!TIP]",
    "a panel in a panel": "> [!NOTE]\n> a\n>\n> > [!TIP]\n> > b",
    "a quote in a panel": "> [!NOTE]\n> a\n>\n> > b",
    "a table in a panel": "> [!NOTE]\n> | A |\n> | --- |\n> | 1 |",
    "an expand": "<details><summary>More **x**</summary>\n\ntext\n\n- a\n\n</details>\n\nafter",
    "an expand in an expand": (
        "<details><summary>A</summary>\n\n<details><summary>B</summary>\n\n<details>\n\nx\n\n</details>\n\n</details>"
        "\n\n</details>"
    ),
    "an expand without an end": "<details><summary>A</summary>\n\ntext",
    "an empty expand": "<details><summary></summary>\n\n</details>",
    "an expand in a panel": "> [!NOTE]\n> <details><summary>A</summary>\n>\n> b\n>\n> </details>",
    "an expand in a list": "- a\n\n  <details><summary>A</summary>\n\n  b\n\n  </details>",
    "mentions": "Ask @[Ana Ruiz](accountid:712020:ab-c) and [Ben](accountid:5). @[x](accountid:)",
    "cards and addresses": "<https://example.com/a?b=c> and https://example.com/x_y_z. (https://example.com)",
    "links": "[a](https://x.org 'T') [b](<https://x.org/a b>) [](https://x.org) [c]() <ana@x.org> [d][1]\n\n[1]: /x",
    "images": "![alt](https://x.org/a.png)\n\ntext ![b](https://x.org/b.png) ![](c.png)\n\n![]()",
    "an image in a link": "[![a](https://x.org/a.png)](https://x.org)",
    "an image in a cell, a list and a quote": "| A |\n| --- |\n| ![a](b.png) |\n\n- ![a](b.png)\n\n> ![a](b.png)",
    "emojis": ":smile: :+1: a:b:c 10:30:15 :smile::heart: **:smile:**",
    "marks": "**a *b ~~c~~* d** <u>e</u> x<sub>2</sub> <b>f</b><i>g</i> `h` **`i`** [`j`](https://x.org) a**b**c",
    "marks that cross": "<u>a **b</u> c** <sub>d <sup>e</sub> f</sup> </u> <s>",
    "signs that a tag closes": "*a</i> b* **c</b> d** ~~e</s> f~~ <i>*g</i> h*",
    "line breaks": "a\\\nb  \nc<br>d<br/>\n<br>",
    "escaped signs": r"\*a\* \_b\_ \# c \[x\] \`d\` 1\. e \<u> &lt;u&gt; &amp;amp; \{\{x\}\} \:smile:",
    "underscores": "\\_\\_proto\\_\\_ `__init__` a_b_c _em_",
    "line starts": "\\# a\\\n\\- b\\\n1\\. c\\\n\\> d\\\n\\| e\\\n=== \\\n\\---",
    "lists side by side": "- a\n\n* b\n\n1. c\n\n1) d\n\n- [ ] e\n\n* [ ] f",
    "a list that begins at 5": "5. a\n6. b",
    "entities": "&copy; &nbsp; &#35; &unknown; AT&T",
    "placeholders of nothing": "{{status DONE#3f2a91}} {{/layout#aaaaaa}}",
    "pipes": "a | b\n\n| `a\\|b` | c \\| d |\n| --- | --- |\n| [x\\|y](https://x.org/a\\|b) | **e \\| f** |",
    "nothing": "",
    "only spaces": "  \n\n\t\n",
}

_WORDS = st.sampled_from(
    [
        "word",
        "a",
        "B2",
        "ä",
        "1.",
        "#",
        "-",
        "x_y_z",
        "2 * 3",
        "a | b",
        "<T>",
        "C:\\dir",
        "100 %",
        "[x]",
        "&amp;",
        "e.g.",
    ]
)
_INLINE = st.recursive(
    st.one_of(
        _WORDS,
        _WORDS,
        st.sampled_from(
            [
                "`code`",
                "`` a`b ``",
                "https://example.com/a",
                "<https://example.com/card>",
                "@[Ana](accountid:ana)",
                ":smile:",
                "a\\\nb",
                "![i](https://x.org/i.png)",
            ]
        ),
    ),
    lambda inner: st.one_of(
        st.builds("**{}**".format, inner),
        st.builds("*{}*".format, inner),
        st.builds("~~{}~~".format, inner),
        st.builds("<u>{}</u>".format, inner),
        st.builds("<sub>{}</sub>".format, inner),
        st.builds("[{}](https://x.org/a)".format, inner),
        st.lists(inner, min_size=2, max_size=3).map(" ".join),
        st.lists(inner, min_size=2, max_size=3).map("".join),
    ),
    max_leaves=5,
)
_ONE_LINE = _INLINE.map(lambda words: words.replace("\\\n", " "))


def _indent(first: str, body: str) -> str:
    return "\n".join((first if n == 0 else " " * len(first)) + line for n, line in enumerate(body.split("\n")))


def _quote(first: str, body: str) -> str:
    return first + "\n".join(f"> {line}" for line in body.split("\n"))


def _table(cells: list[str]) -> str:
    a, b, c, d = (cell.replace("|", "\\|") for cell in cells)
    return f"| {a} | {b} |\n| --- | --- |\n| {c} | {d} |\n|  | x |"


_LEAVES = st.one_of(
    _INLINE,
    st.builds(lambda level, words: f"{'#' * level} {words}", st.integers(1, 6), _ONE_LINE),
    st.builds("```{}\n{}\n```".format, st.sampled_from(["", "py"]), _WORDS),
    st.builds(_table, st.lists(_ONE_LINE, min_size=4, max_size=4)),
    st.sampled_from(["---", "![alt](https://x.org/i.png)", "- [ ]", "-", ">", "#"]),
)
BLOCKS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(_indent, st.sampled_from(["- ", "1. ", "- [ ] ", "- [x] ", "* "]), inner),
        st.lists(st.builds(_indent, st.sampled_from(["- ", "- [ ] "]), inner), min_size=2, max_size=3).map("\n".join),
        st.builds(_quote, st.sampled_from(["", "> [!NOTE]\n", "> [!CAUTION]\n"]), inner),
        st.builds("<details><summary>{}</summary>\n\n{}\n\n</details>".format, _WORDS, inner),
        st.lists(inner, min_size=2, max_size=3).map("\n\n".join),
    ),
    max_leaves=6,
)
MARKDOWN = st.lists(BLOCKS, min_size=1, max_size=4).map("\n\n".join)
_SIGNS = [*"*_~`[](){}<>|#-+!\\:@&=.1 \n", "a", "b c", "\n\n", "  ", "- ", "> ", "1. ", "```", "**", "~~", "[ ] "]
_PARTS = [
    "<u>",
    "</u>",
    "<b>",
    "</b>",
    "</i>",
    "<br>",
    "<details>",
    "</details>",
    "https://x.org",
    "](",
    "![",
    "[!NOTE]",
    "| - |",
    "\n| a |",
]
SOUP = st.lists(st.sampled_from([*_SIGNS, *_PARTS]), max_size=25).map("".join)
