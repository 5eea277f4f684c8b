"""Compress the shared frame of a request (see bodies.py) with an earlier frame as its base.

With a base, only new content takes space. Chat clients send the whole conversation with each request, and agents send
the same instructions and tools. So the base of a frame is a recent frame of the same day whose request body has a
prefix in common with the new body. A request with a short body has a common base instead. A common base is an earlier
frame with the same path and model, which has similar headers. zstd compresses the new content with the content
of the base as its dictionary. Bodies are not parsed, and the frame's checksum detects a wrong base. See
docs/decisions/0021.

The row of a request has the location of its base. The table ``dependents`` lists the requests that have a given base. A
base can itself have a base, so a reader reads a chain of frames. The table ``bases_of_bases`` has the locations of
these other bases. The number of frames in a chain and the total size of their contents are limited.
"""

import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final

import apsw
import zstandard

from relaybook.log.store.entry import BodyRef
from relaybook.log.store.sqlite.packs.bodies import Frame

#: Limits of a chain (a frame, its base, the base of the base, and so on): the number of bases, and the total size of
#: the contents. A chain at both limits is read in about 10 ms.
MAX_BASES: Final = 128
MAX_CHAIN_BYTES: Final = 16 << 20
#: Limits of a common base, which is the base of frames with short request bodies: the size of its content, and the
#: number of frames that depend on the base. If the base is damaged, these frames are unreadable. If the base is
#: removed, these frames are stored again.
_MAX_COMMON_BYTES: Final = 8 << 10
MAX_USES: Final = 100
#: Limit of the memory of all cached bases.
MAX_MEMORY: Final = 32 << 20
#: Memory that a base needs in addition to its content. A common base needs more, because it keeps its compressor's
#: tables.
_MEMORY: Final = 2 << 10
_COMMON_MEMORY: Final = 80 << 10
#: Lengths of the prefixes by which bodies are compared. The shortest prefix has 1,024 bytes, and each following prefix
#: is 25 % longer than the previous one.
_LENGTHS: Final = tuple(int(1024 * 1.25**step) for step in range(26))
#: A base is found only if the new body starts with at least the first quarter of the base's body. Otherwise, little of
#: the base would be useful.
_MIN_SHARE: Final = 4
#: The hash table is larger than the default of compression level 1. With the default, zstd would not find most of the
#: base.
_PARAMETERS: Final = zstandard.ZstdCompressionParameters.from_level(1, hash_log=17, window_log=20, write_checksum=True)

_ADD_DEPENDENT: Final = "INSERT INTO dependents VALUES (?, ?, ?)"
_ADD_BASE: Final = "INSERT OR IGNORE INTO bases_of_bases VALUES (?, ?, ?, ?, ?, ?)"
_BASES: Final = """
WITH RECURSIVE bases (pack, "offset", length, size) AS (
  SELECT base_pack, base_offset, base_length, base_size FROM bases_of_bases WHERE pack = ? AND "offset" = ?
  UNION ALL
  SELECT f.base_pack, f.base_offset, f.base_length, f.base_size
  FROM bases AS b JOIN bases_of_bases AS f ON f.pack = b.pack AND f."offset" = b."offset"
) SELECT * FROM bases
"""


class Base:
    """A stored shared frame (see bodies.py) that can be the base of other frames."""

    def __init__(self, seq: int, frame: Frame, content: bytes, base: "Base | None", keys: list[int]) -> None:
        self.seq = seq
        self.frame = frame
        self.content = content
        #: The location of this frame's own base.
        self.base: BodyRef | None = None if base is None else base.ref()
        #: The number of bases in this frame's chain, and the size of the contents of the whole chain, including this
        #: frame.
        self.bases: int = 0 if base is None else base.bases + 1
        self.chain_bytes: int = len(content) + (0 if base is None else base.chain_bytes)
        #: The keys (see ``keys_of``) by which this frame can be found. If a later frame has the same key, only the
        #: later frame can be found by this key.
        self.keys = set(keys)
        self.is_common = keys[-1] >> 32 == 0
        self.memory: int = len(content) + (_COMMON_MEMORY if self.is_common else _MEMORY)
        self.uses = 0
        self._compressor: zstandard.ZstdCompressor | None = None

    def ref(self) -> BodyRef:
        return BodyRef(self.frame, len(self.content))

    def compress(self, content: bytes) -> bytes:
        """Compress ``content`` to a frame, which can be decompressed only with the content of this base."""
        self.uses += 1
        compressor = self._compressor
        if compressor is None:
            dictionary = zstandard.ZstdCompressionDict(self.content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            if not self.is_common:
                return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=_PARAMETERS).compress(content)
            dictionary.precompute_compress(level=1)
            compressor = zstandard.ZstdCompressor(level=1, dict_data=dictionary, write_checksum=True)
            self._compressor = compressor
        return compressor.compress(content)


def keys_of(body: bytes, path_and_model: str) -> list[int]:
    """Return a key for each prefix of the body that has a length in ``_LENGTHS``, shortest prefix first.

    A body shorter than the shortest length has one key. All such short bodies with the same path and model share this
    key.
    """
    if len(body) < _LENGTHS[0]:
        return [zlib.crc32(path_and_model.encode())]
    view = memoryview(body)
    keys: list[int] = []
    checksum = start = 0
    for length in takewhile(len(body).__ge__, _LENGTHS):
        checksum = zlib.crc32(view[start:length], checksum)
        keys.append(length << 32 | checksum)
        start = length
    return keys


class Bases:
    """The most recently used shared frames of today, which can be bases of new frames.

    A frame is found by the prefixes of its request body.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], Base] = OrderedDict()
        self._by_key: dict[int, Base] = {}
        self._memory = 0

    def find(self, keys: list[int]) -> Base | None:
        """Return the base for a body with these keys, or `None` if no frame is suitable.

        The base is the latest of the frames whose bodies have the longest prefix in common with this body. For a short
        body, the base is an earlier frame with the same path and model.
        """
        for key in reversed(keys):
            base = self._by_key.get(key)
            if base is not None and base.bases < MAX_BASES and base.chain_bytes < MAX_CHAIN_BYTES:
                if base.is_common and base.uses >= MAX_USES:
                    return None
                self._kept.move_to_end(base.frame[:2])
                return base
        return None

    def add(self, base: Base) -> None:
        """Keep a frame as a base for later frames.

        A frame with a short request body is kept only if it has no base itself, and its content has at most
        ``_MAX_COMMON_BYTES``.
        """
        if base.is_common and (base.bases or len(base.content) > _MAX_COMMON_BYTES):
            return
        shortest = max(key >> 32 for key in base.keys) // _MIN_SHARE
        base.keys = {key for key in base.keys if key >> 32 >= shortest}
        for key in base.keys:
            earlier = self._by_key.get(key)
            self._by_key[key] = base
            if earlier is not None:
                earlier.keys.discard(key)
                if not earlier.keys:
                    self._drop(earlier)
        self._kept[base.frame[:2]] = base
        self._memory += base.memory
        while self._memory > MAX_MEMORY:
            self._drop(next(iter(self._kept.values())))

    def forget(self, frames: Iterable[Frame]) -> None:
        """Drop these frames. Call this method for frames that were removed or stored again at another location."""
        for pack, offset, _ in frames:
            base = self._kept.get((pack, offset))
            if base is not None:
                self._drop(base)

    def clear(self) -> None:
        """Drop all frames."""
        self._kept.clear()
        self._by_key.clear()
        self._memory = 0

    def _drop(self, base: Base) -> None:
        del self._kept[base.frame[:2]]
        self._memory -= base.memory
        for key in base.keys:
            del self._by_key[key]


def add_bases(connection: apsw.Connection, based: Iterable[tuple[Base, Base]]) -> None:
    """Store which frames have which base. ``based`` has pairs of a frame and its base."""
    pairs = list(based)
    connection.executemany(_ADD_DEPENDENT, sorted((*base.frame[:2], frame.seq) for frame, base in pairs))
    connection.executemany(
        _ADD_BASE,
        ((*base.frame[:2], *base.base.location, base.base.size) for _, base in pairs if base.base is not None),
    )


def bases_of(connection: apsw.Connection, pack: int, offset: int) -> Iterator[BodyRef]:
    """Yield the base of the base at this location, then the base of that base, and so on."""
    for *location, size in connection.execute(_BASES, (pack, offset)):
        yield BodyRef(tuple(location), size)
