"""A place for entries that no store can take: their raw bytes and why, so that nothing is thrown away."""

import os
from pathlib import Path
from typing import Final

import msgspec

from relaybook.stores.base import Entry

_DECODER: Final = msgspec.msgpack.Decoder(tuple[str, Entry])


class Quarantine:
    """A directory with one file for each entry (msgpack: reason, entry). Files are 0600."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, entry: Entry, reason: str) -> None:
        """Keeps the entry. Raises OSError; the same entry may be put again."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / f"{entry.record.id}.msgpack"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.msgpack.encode((reason, entry)))


def decode_quarantined(data: bytes) -> Entry:
    """The entry of a quarantine's file. Raises msgspec.MsgspecError."""
    return _DECODER.decode(data)[1]
