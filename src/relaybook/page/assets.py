"""Holds the page's files and serves them compressed if the browser accepts gzip."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Self

#: Not the ``mimetypes`` of the machine, which differ.
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class Asset:
    """One file. Its name has a hash of what is in it, so that it never changes under that name."""

    media_type: str
    raw: bytes

    @classmethod
    def of(cls, name: str, raw: bytes) -> Self:
        """The file of this name and content."""
        return cls(_MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream"), raw)

    @cached_property
    def packed(self) -> bytes | None:
        """The content compressed with gzip, at the first use; ``None`` if that does not make it smaller."""
        packed = gzip.compress(self.raw, mtime=0)
        return packed if len(packed) < len(self.raw) else None

    def for_browser(self, accept_encoding: str) -> tuple[bytes, str | None]:
        """The bytes to send and their content coding, by what ``Accept-Encoding`` says (RFC 9110 §12.5.3)."""
        if _is_gzip_accepted(accept_encoding) and self.packed is not None:
            return self.packed, "gzip"
        return self.raw, None


def read_assets(directory: Path) -> Mapping[str, Asset]:
    """The files of a directory by name."""
    files = sorted(path for path in directory.glob("*") if path.is_file())
    return {path.name: Asset.of(path.name, path.read_bytes()) for path in files}


def _is_gzip_accepted(accept_encoding: str) -> bool:
    weights: dict[str, bool] = {}
    for part in accept_encoding.lower().split(","):
        coding, _, weight = part.partition(";")
        weights[coding.strip()] = weight.replace(" ", "").rstrip("0") not in ("q=", "q=0.")
    return weights.get("gzip", weights.get("*", False))
