"""The picture is a PNG that a reader accepts."""

import struct
import zlib

from relaybook_demo.samples.questions import DATA_URL, draw


def test_the_picture_is_a_small_png_with_sound_chunks() -> None:
    png = draw()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, names, pixels = 8, [], b""
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        name, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size) == (zlib.crc32(name + data),)
        names.append(name)
        pixels += data if name == b"IDAT" else b""
        at += 12 + size
    assert names == [b"IHDR", b"IDAT", b"IEND"]
    assert len(zlib.decompress(pixels)) == 64 * (1 + 96 * 3)
    assert len(DATA_URL) < 2000
