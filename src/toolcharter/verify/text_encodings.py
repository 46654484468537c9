"""Finds text that a model can decode and a person cannot read: base64, ROT13, Morse code and others."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from toolcharter.verify.texts import ToolText, contains_any

_MIN_BLOB = 40
_MIN_HEX = 32
_MAX_HASH_LENGTH = 128
"""The hexadecimal digits of a hash of 512 bits."""
_BLOB = re.compile(rf"(?<![A-Za-z0-9+/_=.:-])[A-Za-z0-9+/_-]{{{_MIN_HEX},}}={{0,2}}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]+)")
_ESCAPES = re.compile(
    r"(?:\\x[0-9a-fA-F]{2}){8,}|(?:\\u[0-9a-fA-F]{4}){6,}|(?:&#x?[0-9a-fA-F]+;\s?){8,}|(?:%[0-9A-Fa-f]{2}){12,}"
)
_READABLE = re.compile(r"[A-Za-z]{2}[ ,.:]{1,9}[A-Za-z]{1,40}[ ,.:]{1,9}[A-Za-z]{2}")
_MORSE = re.compile(r"(?<!\S)(?:[.-]{1,6}(?: +/ +| +)){14,}[.-]{1,6}(?!\S)")
_SPACED = re.compile(r"(?<!\S)(?:[A-Za-z] +){9,}[A-Za-z](?!\w)")
_MIXED = re.compile(r"(?<!\w)(?=[a-z0-9]*[013457])(?=[0-9]*[a-z])[a-z0-9]{3,}(?!\w)")
_DIGITS = str.maketrans("013457", "oieast")
_MIN_REPLACED = 2
_REVERSING = "\u202e"
"""The control character that shows text from right to left. Another rule finds it."""

_SUSPICIOUS_PHRASES = (
    *("ignore", "disregard", "previous", "instruction", "password", "the user", "private", "secret", "system prompt"),
    *("send the", "do not tell", "upload"),
)
"""Words that show that a text is an order to a model."""
_SUSPICIOUS_WORDS = frozenset(
    [
        *("ignore", "forget", "disregard", "previous", "instructions", "instruction", "password", "passwords", "user"),
        *(
            "users",
            "tell",
            "secret",
            "system",
            "send",
            "upload",
            "delete",
            "your",
            "not",
            "all",
            "rules",
            "private",
            "key",
        ),
    ]
)
_ROT13 = tuple(codecs.encode(word, "rot13") for word in _SUSPICIOUS_PHRASES)
_REVERSED = tuple(word[::-1] for word in _SUSPICIOUS_PHRASES)


class EncodedText(NamedTuple):
    """A part of a text that is encoded."""

    encoding: str
    start: str
    """The first characters, as they are in the text."""
    decoded: str
    """The decoded text; empty if that is not known."""


def encoded_texts(text: ToolText) -> Iterator[EncodedText]:
    """The encoded parts of a text."""
    raw = text.text
    if len(raw) >= _MIN_HEX:
        for match in _BLOB.finditer(raw):
            yield from _blob(match[0])
    if "\\" in raw or "&#" in raw or "%" in raw:
        for match in _ESCAPES.finditer(raw):
            yield EncodedText("escaped characters", match[0][:24], _printable(html.unescape(match[0])))
    if ("-." in raw or ".-" in raw) and (match := _MORSE.search(raw)) and "." in match[0] and "-" in match[0]:
        yield EncodedText("Morse code", match[0][:24], "")
    yield from _disguised_words(raw, text.normalized)


def _disguised_words(raw: str, plain: str) -> Iterator[EncodedText]:
    """Words of an order whose letters are shifted, reversed, spaced or replaced."""
    if contains_any(plain, _ROT13):
        yield EncodedText("ROT13", raw[-40:][:24], codecs.decode(plain, "rot13"))
    if contains_any(plain, _REVERSED) and _REVERSING not in raw:
        yield EncodedText("reversed text", raw[-40:][:24], plain[::-1])
    if match := _SPACED.search(raw):
        letters = match[0].replace(" ", "").lower()
        if any(word.replace(" ", "") in letters for word in _SUSPICIOUS_PHRASES):
            yield EncodedText("spaced letters", match[0][:24], letters)
    has_digits = contains_any(plain, "013457")
    replaced = (
        [word for word in _MIXED.findall(plain) if word.translate(_DIGITS) in _SUSPICIOUS_WORDS] if has_digits else []
    )
    if len(replaced) >= _MIN_REPLACED:
        yield EncodedText("digits in place of letters", " ".join(replaced)[:24], plain.translate(_DIGITS))


def _blob(blob: str) -> Iterator[EncodedText]:
    """Base64 or hexadecimal, unless it is a path, a long name, an address, or a hash in an example."""
    if hexadecimal := _HEX.fullmatch(blob):
        decoded = _printable(_unhex(hexadecimal[1]))
        if decoded or len(blob) > _MAX_HASH_LENGTH:
            yield EncodedText(f"{len(blob)} characters of hexadecimal text", blob[:24], decoded)
        return
    parts = re.split(r"[/_-]", blob.rstrip("="))
    letters = any(c.islower() for c in blob) and any(c.isupper() for c in blob)
    if letters and (decoded := _printable(_unbase64(blob))):
        yield EncodedText(f"{len(blob)} characters of base64", blob[:24], decoded)
    elif letters and len(blob) >= _MIN_BLOB and any(map(str.isdigit, blob)) and max(map(len, parts)) >= _MIN_BLOB // 2:
        yield EncodedText(f"{len(blob)} characters of encoded text", blob[:24], "")


def _unhex(digits: str) -> str:
    return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")


def _unbase64(blob: str) -> str:
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4)).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def _printable(text: str) -> str:
    """The text, if a person can read it; otherwise an empty text."""
    return text if text.isprintable() and "\ufffd" not in text and _READABLE.search(text) else ""
