"""Save entries that the store rejects, with the reason, so that no data is lost."""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from relaybook.log.store.entry import Entry
from relaybook.system import disk

_MAX_INTEGER: Final = (1 << 63) - 1
_DECODER: Final = msgspec.msgpack.Decoder(tuple[str, Entry])


class Quarantine:
    """A directory with one file per entry (msgpack: reason, entry). Files have mode 0600."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, entry: Entry, reason: str) -> None:
        """Save the entry. Values that msgpack cannot encode are replaced with the nearest encodable values.

        If the same entry is saved again, its file is replaced. The file is synced, because the journal is deleted
        afterwards. Raises OSError.
        """
        try:
            data = msgspec.msgpack.encode((reason, entry))
        except (ValueError, OverflowError):
            data = msgspec.msgpack.encode((reason, _nearest(msgspec.to_builtins(entry, builtin_types=(bytes,)))))
        disk.make_directory(self._directory)
        path = self._directory / f"{entry.record.id}.msgpack"
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        descriptor = disk.create_file(new)
        try:
            disk.write_at(descriptor, data, 0)
            disk.sync(descriptor)
        finally:
            os.close(descriptor)
        new.rename(path)
        disk.sync_directory(self._directory)


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
