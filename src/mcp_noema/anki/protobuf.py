"""As much of the protobuf wire format as it takes to read a few fields of Anki's messages."""

import struct

from mcp_noema.anki.package import BadPackage

Message = dict[int, list[int | bytes]]
"""The values of each field by its number: a varint as a number, everything else as bytes."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_FLOAT = 4


def message(data: bytes) -> Message:
    """The fields of a message."""
    found: Message = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
        else:
            length, at = _length(data, at, kind)
            value, at = data[at : at + length], at + length
        if at > len(data) or number == 0:
            raise _broken()
        found.setdefault(number, []).append(value)
    return found


def number(fields: Message, field: int) -> int:
    """The number in a field; 0, which is not written, where there is none."""
    value = fields.get(field, [0])[-1]
    if not isinstance(value, int):
        raise _broken()
    return value


def raw(fields: Message, field: int) -> bytes:
    """The bytes in a field: a message in the message, or a text."""
    value = fields.get(field, [b""])[-1]
    if not isinstance(value, bytes):
        raise _broken()
    return value


def text(fields: Message, field: int) -> str:
    return raw(fields, field).decode("utf-8", "replace").replace("\0", "")


def floats(fields: Message, field: int) -> list[float]:
    """All numbers in a field, whether they are packed or one by one, and as short as they can be written."""
    values = fields.get(field, [])
    data = b"".join(value for value in values if isinstance(value, bytes))
    if len(data) % _FLOAT or not all(isinstance(value, bytes) for value in values):
        raise _broken()
    return [_shortest(data[at : at + _FLOAT]) for at in range(0, len(data), _FLOAT)]


def _shortest(four: bytes) -> float:
    """Four bytes hold 0.9 as 0.89999997; what was meant is the shortest number that they would hold."""
    (value,) = struct.unpack("<f", four)
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack("<f", short) == four:
            return short
    return value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more bytes follow
            return value, at + place + 1
    raise _broken()


def _length(data: bytes, at: int, kind: int) -> tuple[int, int]:
    if kind == _BYTES:
        return _varint(data, at)
    if kind in (_FIXED32, _FIXED64):
        return (4 if kind == _FIXED32 else 8), at
    raise _broken()


def _broken() -> BadPackage:
    return BadPackage("A message in the file cannot be read: it is damaged. Export it again from Anki.")
