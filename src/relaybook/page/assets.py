"""Hold the page's assets in memory, and compress them for browsers that accept gzip."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Self

#: The standard library's ``mimetypes`` is not used, because its result depends on the machine.
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
    """One file. Its name contains a hash of its content, so files with the same name have the same content."""

    media_type: str
    raw: bytes

    @classmethod
    def of(cls, name: str, raw: bytes) -> Self:
        """Return the asset with this file name and content."""
        return cls(_MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream"), raw)

    @cached_property
    def compressed(self) -> bytes | None:
        """The gzip-compressed content, computed on first use. ``None`` if the compressed content is not smaller."""
        compressed = gzip.compress(self.raw, mtime=0)
        return compressed if len(compressed) < len(self.raw) else None

    def negotiate(self, accept_encoding: str) -> tuple[bytes, str | None]:
        """Return the bytes to send and their content coding, negotiated by ``Accept-Encoding`` (RFC 9110 §12.5.3)."""
        if _is_gzip_accepted(accept_encoding) and self.compressed is not None:
            return self.compressed, "gzip"
        return self.raw, None


def read_assets(directory: Path) -> Mapping[str, Asset]:
    """Read the files of a directory. Returns assets by file name."""
    files = sorted(path for path in directory.glob("*") if path.is_file())
    return {path.name: Asset.of(path.name, path.read_bytes()) for path in files}


def _is_gzip_accepted(accept_encoding: str) -> bool:
    weights: dict[str, bool] = {}
    for part in accept_encoding.lower().split(","):
        coding, _, weight = part.partition(";")
        weights[coding.strip()] = weight.replace(" ", "").rstrip("0") not in ("q=", "q=0.")
    return weights.get("gzip", weights.get("*", False))
