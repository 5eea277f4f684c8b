"""Save entries that the store rejects, with the reason, so that no data is lost."""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from relaybook.log.store.port import Entry

_MAX_INTEGER: Final = (1 << 63) - 1
_DECODER: Final = msgspec.msgpack.Decoder(tuple[str, Entry])


class Quarantine:
    """A directory with one file per entry (msgpack: reason, entry). Files have mode 0600."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, entry: Entry, reason: str) -> None:
        """Save the entry. Values that msgpack cannot encode are replaced with the nearest encodable values.

        Saving the same entry again replaces its file. Raises OSError.
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
    """Replace lone surrogates with question marks, and integers over 64 bits with the nearest 64-bit integer."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case int():
            return max(-_MAX_INTEGER, min(value, _MAX_INTEGER))
        case list() | tuple():
            return [_nearest(each) for each in value]
        case dict():
            return {_nearest(name): _nearest(each) for name, each in value.items()}
        case _:
            return value


def list_quarantined(directory: Path) -> list[Path]:
    """Return the files of a quarantine, oldest request first; empty if the directory does not exist."""
    return sorted(directory.glob("*.msgpack")) if directory.is_dir() else []


def decode_quarantined(data: bytes) -> Entry:
    """Decode the entry of a quarantine file. Raises msgspec.MsgspecError if the file is invalid."""
    return _DECODER.decode(data)[1]
