"""HTML converted to plain text for agents.

Fields are HTML if they come from Anki and plain text if an agent wrote them, and nothing says which. Only the tags
that people use for formatting are therefore removed: `a < b`, `Vec<u8>`, `x<b and c>d` and a lone `<b>` stay.
"""

import re
from html import unescape
from html.entities import html5
from unicodedata import normalize
from urllib.parse import unquote

_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul"
)
_PAIR_NAMES = (
    "a abbr acronym audio b bdi bdo big button canvas cite code del dfn em font i iframe ins kbd label mark object q "
    "rb ruby s samp small span strike strong tt u var video"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_PAIRS = frozenset(_PAIR_NAMES.split())
_OPENING = {"br": "", "td": " ", "th": " ", "sup": "^", "sub": "_", "rt": "["}
_CLOSING = {"rt": "]"}
_INVISIBLE = frozenset({"script", "style", "head", "title", "svg", "rp"})
_EMPTY = frozenset({"img", "input", "wbr", "col", "colgroup", "source", "embed", "link", "meta"})
_MEDIA = {"img": "image", "audio": "sound", "video": "video", "source": "sound", "embed": "file", "object": "file"}

_WORDS = "|".join(sorted(_BLOCKS | _PAIRS | _OPENING.keys() | _INVISIBLE | _EMPTY, key=len, reverse=True))
_BARE = "allowfullscreen|autoplay|checked|controls|disabled|hidden|loop|muted|nowrap|open|readonly|selected"
_VALUE = r"""(?:"[^"]*+"|'[^']*+'|[^\s"'<>=`]++)"""
_TOKEN = re.compile(
    rf"(?P<comment><!--)|<(?P<close>/)?(?P<name>{_WORDS})(?P<attributes>(?:\s++(?:[\w:.-]++\s*+=\s*+{_VALUE}|(?:{_BARE})\b))*+)"
    r"\s*+/?>|\[sound:(?P<sound>[^\s\[\]][^\[\]]*+)\]",
    re.IGNORECASE,
)
_SOURCE = re.compile(rf"\s(?:src|data)\s*=\s*({_VALUE})", re.IGNORECASE)
_REMOTE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_LINE_END = re.compile(r"(?<![ \t])[ \t]+\n")
_EMPTY_LINES = re.compile(r"\n{3,}")


def plain_text(html: str) -> str:
    """HTML, or text that is not HTML, as plain text."""
    return plain(html, [])


def plain(html: str, media: list[str]) -> str:
    """The same. The names of images and sounds are added to `media`."""
    text = _TextExtractor(html, media).text() if "<" in html or "[sound:" in html else html
    if "&" in text:
        text = _ENTITY.sub(_character, text)
    text = text.replace("\xa0", " ")
    if "\n" in text or "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _EMPTY_LINES.sub("\n\n", _LINE_END.sub("\n", text))
    return text.strip()


def _character(entity: re.Match[str]) -> str:
    # Only whole names: `unescape` would replace the beginning of &nothing; too.
    return unescape(entity[0]) if entity[0][1] == "#" else html5.get(entity[0][1:], entity[0])


def fold(text: str) -> str:
    """The text for comparisons that ignore case, in any script."""
    return text.lower() if text.isascii() else normalize("NFC", text).casefold()


class _TextExtractor:
    """Removes the tags of one text, with line breaks in place of blocks."""

    def __init__(self, html: str, media: list[str]) -> None:
        self._html = html
        self._lowered = html.lower()
        self._media = media
        self._out: list[str] = []
        self._on_new_line = False
        self._contained: dict[str, bool] = {}

    def text(self) -> str:
        position = 0
        while match := _TOKEN.search(self._html, position):
            self._add(self._html[position : match.start()], before_block=(match["name"] or "").lower() in _BLOCKS)
            position = self._token(match)
        self._add(self._html[position:])
        return "".join(self._out)

    def _add(self, text: str, *, before_block: bool = False) -> None:
        # White space beside a block is layout of the source.
        text = text.lstrip() if self._on_new_line else text
        text = text.rstrip() if before_block else text
        if text:
            self._out.append(text)
            self._on_new_line = False

    def _token(self, match: re.Match[str]) -> int:
        """Add the text of a token. Returns the position after it."""
        name = (match["name"] or "").lower()
        if match["comment"]:
            return self._skip(match, "-->")
        if name in _INVISIBLE and not match["close"]:
            return self._skip(match, f"</{name}")
        if match["sound"]:
            self._add_media("sound", match["sound"])
        elif name in _PAIRS and not self._contains(f"<{name}" if match["close"] else f"</{name}"):
            self._add(match[0])
        elif name in _BLOCKS:
            self._out += [] if self._on_new_line else ["\n"]
            self._on_new_line = True
        elif name == "br":
            self._out.append("\n")
            return match.end() + (self._html[match.end() : match.end() + 1] == "\n")
        elif match["close"]:
            self._add(_CLOSING.get(name, ""))
        else:
            self._add(_OPENING.get(name, ""))
            self._add_source(name, match["attributes"])
        return match.end()

    def _skip(self, match: re.Match[str], end: str) -> int:
        """Skip invisible content. Without an end tag, it is not HTML but text about HTML."""
        if not self._contains(end) or (position := self._lowered.find(end, match.end())) < 0:
            self._contained[end] = False
            self._add(match[0])
            return match.end()
        return position if end.startswith("<") else position + len(end)

    def _contains(self, text: str) -> bool:
        if text not in self._contained:
            self._contained[text] = text in self._lowered
        return self._contained[text]

    def _add_source(self, name: str, attributes: str) -> None:
        source = _SOURCE.search(attributes) if name in _MEDIA else None
        if source:
            self._add_media(_MEDIA[name], unescape(source[1].strip("\"'")))

    def _add_media(self, kind: str, name: str) -> None:
        if _REMOTE.match(name):
            self._add(f"[{kind}]" if name.lower().startswith("data:") else f"[{kind}: {name}]")
            return
        # Anki stores some names URL-encoded.
        name = unquote(name)
        self._media.append(name)
        self._add(f"[{kind}: {name}]")
