"""A place for entries that no store can take: their raw bytes and why, so that nothing is thrown away."""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from relaybook.log.store.port import Entry

_MOST: Final = (1 << 63) - 1
_DECODER: Final = msgspec.msgpack.Decoder(tuple[str, Entry])


class Quarantine:
    """A directory with one file for each entry (msgpack: reason, entry). Files are 0600."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, entry: Entry, reason: str) -> None:
        """Keeps the entry, a value that has no form in msgpack either as the nearest that has one.

        Raises OSError; the same entry may be put again.
        """
        try:
            data = msgspec.msgpack.encode((reason, entry))
        except (ValueError, OverflowError):
            data = msgspec.msgpack.encode((reason, _nearest(msgspec.to_builtins(entry, builtin_types=(bytes,)))))
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / f"{entry.record.id}.msgpack"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)


def _nearest(value: Any) -> Any:
    """Lone surrogates as question marks, integers over 64 bits as the largest."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case int():
            return max(-_MOST, min(value, _MOST))
        case list() | tuple():
            return [_nearest(each) for each in value]
        case dict():
            return {_nearest(name): _nearest(each) for name, each in value.items()}
        case _:
            return value


def list_quarantined(directory: Path) -> list[Path]:
    """The files of a quarantine, oldest request first; none where there is no such directory."""
    return sorted(directory.glob("*.msgpack")) if directory.is_dir() else []


def decode_quarantined(data: bytes) -> Entry:
    """The entry of a quarantine's file. Raises msgspec.MsgspecError."""
    return _DECODER.decode(data)[1]
