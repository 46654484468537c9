"""The part of the protobuf wire format that is needed to read a few fields of Anki's messages."""

import struct

from mcp_noema.anki.package import BadPackage, damaged

Message = dict[int, list[int | bytes]]
"""The values of each field by field number: a varint as an int, everything else as bytes."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_FLOAT_BYTES = 4


def parse(data: bytes) -> Message:
    """The fields of a message."""
    message: Message = {}
    offset = 0
    while offset < len(data):
        key, offset = _varint(data, offset)
        field, wire_type = key >> 3, key & 7
        if wire_type == _VARINT:
            value, offset = _varint(data, offset)
        else:
            length, offset = _length(data, offset, wire_type)
            value, offset = data[offset : offset + length], offset + length
        if offset > len(data) or field == 0:
            raise _unreadable()
        message.setdefault(field, []).append(value)
    return message


def get_int(message: Message, field: int) -> int:
    """An integer field; 0, the protobuf default, if it is missing."""
    value = message.get(field, [0])[-1]
    if not isinstance(value, int):
        raise _unreadable()
    return value


def get_bytes(message: Message, field: int) -> bytes:
    """A field with a nested message or a text; empty if it is missing."""
    value = message.get(field, [b""])[-1]
    if not isinstance(value, bytes):
        raise _unreadable()
    return value


def get_text(message: Message, field: int) -> str:
    return get_bytes(message, field).decode("utf-8", "replace").replace("\0", "")


def get_floats(message: Message, field: int) -> list[float]:
    """All floats of a repeated field, packed or not, each as its shortest decimal form."""
    values = message.get(field, [])
    data = b"".join(value for value in values if isinstance(value, bytes))
    if len(data) % _FLOAT_BYTES or not all(isinstance(value, bytes) for value in values):
        raise _unreadable()
    return [_shortest(data[i : i + _FLOAT_BYTES]) for i in range(0, len(data), _FLOAT_BYTES)]


def _shortest(four: bytes) -> float:
    """The shortest decimal number with these four bytes: 0.9 is stored as 0.89999997."""
    (value,) = struct.unpack("<f", four)
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack("<f", short) == four:
            return short
    return value


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """A varint and the offset after it."""
    value = 0
    for index, byte in enumerate(data[offset : offset + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:  # noqa: PLR2004 - the highest bit means that more bytes follow
            return value, offset + index + 1
    raise _unreadable()


def _length(data: bytes, offset: int, wire_type: int) -> tuple[int, int]:
    """The length of a value, and the offset where it begins."""
    if wire_type == _BYTES:
        return _varint(data, offset)
    if wire_type in (_FIXED32, _FIXED64):
        return (4 if wire_type == _FIXED32 else 8), offset
    raise _unreadable()


def _unreadable() -> BadPackage:
    return damaged("A message in the file cannot be read.")
