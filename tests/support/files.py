"""Read the files below a directory, including compressed content, while a running server changes them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import zstandard

#: The magic number of a zstd frame.
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def paths_below(directory: Path) -> Iterator[Path]:
    """Yield every file and directory. Unlike ``Path.rglob``, ignores directories that are removed meanwhile."""
    for place, directories, files in os.walk(directory, onerror=_unless_removed):
        yield from (Path(place, name) for name in sorted(directories + files))


def contents_below(directory: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the relative path and the bytes of every file. Files that are removed meanwhile are skipped."""
    for path in paths_below(directory):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield str(path.relative_to(directory)), path.read_bytes()


def raw_and_decompressed(raw: bytes) -> Iterator[bytes]:
    """Yield the bytes of a file, then the decompressed content of each zstd frame in them."""
    yield raw
    at = raw.find(_ZSTD)
    while at >= 0:
        with suppress(zstandard.ZstdError):
            yield zstandard.ZstdDecompressor().decompressobj().decompress(raw[at:])
        at = raw.find(_ZSTD, at + 1)


def _unless_removed(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
