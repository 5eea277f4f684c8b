"""Test that the sample picture is a valid PNG."""

import struct
import zlib

from relaybook_demo.samples.questions import DATA_URL, draw_png


def test_the_picture_is_a_small_valid_png() -> None:
    png = draw_png()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    offset, names, pixels = 8, [], b""
    while offset < len(png):
        (size,) = struct.unpack_from(">I", png, offset)
        name, data = png[offset + 4 : offset + 8], png[offset + 8 : offset + 8 + size]
        assert struct.unpack_from(">I", png, offset + 8 + size) == (zlib.crc32(name + data),)
        names.append(name)
        pixels += data if name == b"IDAT" else b""
        offset += 12 + size
    assert names == [b"IHDR", b"IDAT", b"IEND"]
    assert len(zlib.decompress(pixels)) == 64 * (1 + 96 * 3)
    assert len(DATA_URL) < 2000
