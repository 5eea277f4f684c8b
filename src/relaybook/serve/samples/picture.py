"""Draws the picture that one question shows: a sun above the sea, as a PNG of a few hundred bytes."""

import base64
import struct
import zlib
from typing import Final

_WIDTH, _HEIGHT = 96, 64
_SUN = (60, 22, 11)
_YELLOW, _BLUE, _LIGHT = (255, 209, 71), (36, 94, 156), (92, 148, 201)


def draw() -> bytes:
    """The PNG."""
    rows = b"".join(b"\0" + bytes(part for x in range(_WIDTH) for part in _pixel(x, y)) for y in range(_HEIGHT))
    head = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _pixel(x: int, y: int) -> tuple[int, int, int]:
    at_x, at_y, radius = _SUN
    if (x - at_x) ** 2 + (y - at_y) ** 2 <= radius**2:
        return _YELLOW
    if y >= 40:
        return _LIGHT if (x + 3 * y) % 24 < 7 and y % 6 == 0 else _BLUE
    return 165 + 2 * y, 205 - y, 230 - 3 * y  # from light blue down to orange


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


DATA_URL: Final = "data:image/png;base64," + base64.b64encode(draw()).decode()
