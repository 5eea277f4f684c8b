"""What stands below a directory that a running server changes meanwhile."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def paths_below(directory: Path) -> Iterator[Path]:
    """Every file and directory; ``Path.rglob`` fails at a directory that is removed while it looks."""
    for place, directories, files in os.walk(directory, onerror=_unless_removed):
        yield from (Path(place, name) for name in sorted(directories + files))


def contents_below(directory: Path) -> Iterator[tuple[str, bytes]]:
    """The name below the directory and the bytes of every file that is not removed meanwhile."""
    for path in paths_below(directory):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield str(path.relative_to(directory)), path.read_bytes()


def _unless_removed(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
