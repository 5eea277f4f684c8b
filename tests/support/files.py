"""Read the files below a directory, including compressed content, while a running server changes them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import zstandard

from relaybook.log.store.sqlite.other_fields import DICTIONARY

#: The magic number of a zstd frame.
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BLOCK_BYTES: Final = 1 << 18
_ZEROS: Final = bytes(_BLOCK_BYTES)


def paths_below(directory: Path) -> Iterator[Path]:
    """Yield every file and directory.

    Unlike ``Path.rglob``, this function ignores directories that are removed meanwhile.
    """
    for place, directories, files in os.walk(directory, onerror=_unless_removed):
        yield from (Path(place, name) for name in sorted(directories + files))


def contents_below(directory: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the relative path and the bytes of every file. Files that are removed meanwhile are skipped.

    Blocks of zeros are left out, because a new journal segment consists of 64 MiB of zeros.
    """
    for path in paths_below(directory):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield str(path.relative_to(directory)), _without_zeros(path)


def _without_zeros(path: Path) -> bytes:
    with path.open("rb", buffering=0) as file:
        blocks = iter(lambda: file.read(_BLOCK_BYTES), b"")
        return b"".join(block for block in blocks if block != _ZEROS)


def raw_and_decompressed(raw: bytes) -> Iterator[bytes]:
    """Yield the bytes of a file, then the decompressed content of each zstd frame in them.

    A frame is decompressed without a dictionary, and with the dictionary of the database's rows.
    """
    yield raw
    at = raw.find(_ZSTD)
    while at >= 0:
        for dictionary in (None, DICTIONARY):
            with suppress(zstandard.ZstdError):
                yield zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj().decompress(raw[at:])
        at = raw.find(_ZSTD, at + 1)


def _unless_removed(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
