"""Create the ids of records and runs. Ids are UUIDv7 (RFC 9562 §5.7) and increase within a process.

Inside the program, an id has 16 bytes. Outside the program, an id is written as canonical text. Ids are not secret, so
their random bits only need to make collisions unlikely.
"""

import os
import random
import re

from relaybook import clock

_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_VERSION_AND_VARIANT = (7 << 76) | (2 << 62)


class IdMaker:
    """Creates ids that always increase, even if the wall clock is set back."""

    def __init__(self) -> None:
        self._random_bits = random.Random(os.urandom(32)).getrandbits  # noqa: S311 - ids are not secret
        self._last_ms = 0
        self._count = 0

    def __call__(self) -> bytes:
        """Return 16 bytes: 48 bits of milliseconds, a 12-bit counter within the millisecond, 62 random bits."""
        now_ms = clock.wall_ns() // 1_000_000
        if now_ms > self._last_ms:
            self._last_ms = now_ms
            self._count = 0
        elif self._count < 0xFFF:
            self._count += 1
        else:
            self._last_ms += 1
            self._count = 0
        number = (self._last_ms << 80) | _VERSION_AND_VARIANT | (self._count << 64) | self._random_bits(62)
        return number.to_bytes(16, "big")


new_id = IdMaker()


def id_text(raw: bytes) -> str:
    """Return the canonical text of an id: 36 characters, lower case."""
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def parse_id(text: str) -> bytes | None:
    """Return the 16 bytes of an id, or `None` if the text is not the canonical text of a UUIDv7."""
    return bytes.fromhex(text.replace("-", "")) if _TEXT.fullmatch(text) else None
