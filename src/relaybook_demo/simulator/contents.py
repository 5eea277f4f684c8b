"""Turn a reply into the content of the body, before framing. Content consists of parts and their total length."""

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import brotli
import zstandard

from relaybook_demo.simulator import streams
from relaybook_demo.simulator.directive_values import BodyDirectives
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.replies import Reply


class _Coder(NamedTuple):
    add: Callable[[bytes], bytes]
    flush: Callable[[], bytes]
    finish: Callable[[], bytes]


def encode_parts(parts: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Compress, flush and yield each part, then yield the bytes that end the compressed format."""
    coder = _coder(encoding)
    for part in parts:
        yield coder.add(part) + coder.flush()
    yield coder.finish()


def encode_whole(body: bytes, encoding: str) -> bytes:
    """Compress a whole body with one of the content encodings."""
    coder = _coder(encoding)
    return coder.add(body) + coder.finish()


def _coder(encoding: str) -> _Coder:
    if encoding == "br":
        brotli_coder = brotli.Compressor(quality=4)
        return _Coder(brotli_coder.process, brotli_coder.flush, brotli_coder.finish)
    if encoding == "zstd":
        zstd = zstandard.ZstdCompressor(level=3).compressobj()
        return _Coder(zstd.compress, lambda: zstd.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK), zstd.flush)
    deflate = zlib.compressobj(6, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    return _Coder(deflate.compress, lambda: deflate.flush(zlib.Z_SYNC_FLUSH), deflate.flush)


BLOCK_BYTES = 64 * 1024

_BLOCK = bytes(range(32, 127)) * (BLOCK_BYTES // 95 + 2)
_HTML = b"<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(slots=True)
class Content:
    """The content of a body. Each part is an encoded event or a block of bytes, and is sent in one step.

    ``length`` is `None` if the length is not known in advance.
    """

    parts: Iterable[bytes]
    length: int | None
    content_type: bytes
    is_stream: bool = False


def content_of(reply: Reply, directives: Directives, now_ns: Callable[[], int]) -> Content:
    """Return the content of a reply after applying the directives that change it."""
    content = _plain_content(reply, directives, now_ns)
    if directives.encoding is not None:
        if content.length is not None and content.length <= BLOCK_BYTES * 1024:
            body = encode_whole(b"".join(content.parts), directives.encoding)
            content.parts, content.length = [body], len(body)
        else:
            content.parts, content.length = encode_parts(content.parts, directives.encoding), None
    if directives.framing == "length" and content.length is None:
        body_parts = list(content.parts)
        content.parts, content.length = body_parts, sum(map(len, body_parts))
    if directives.content_type is not None:
        content.content_type = directives.content_type
    return content


def _plain_content(reply: Reply, directives: Directives, now_ns: Callable[[], int]) -> Content:
    if directives.body is not None:
        return _replacement(directives.body, reply)
    if reply.events is not None:
        events = streams.select_events(reply.events, directives, reply.error_event)
        parts = streams.write(events, reply.stream_format, directives, now_ns)
        return Content(parts, None, reply.content_type, is_stream=True)
    return Content([reply.body] if reply.body else [], len(reply.body), reply.content_type)


def _replacement(body: BodyDirectives, reply: Reply) -> Content:
    match body.kind:
        case "endless":
            return Content(itertools.repeat(_BLOCK[:BLOCK_BYTES]), None, b"application/octet-stream")
        case "bytes":
            return Content(_blocks(body.size), body.size, b"application/octet-stream")
        case "html":
            data, content_type = _HTML, b"text/html; charset=utf-8"
        case "text":
            data, content_type = b"upstream connect error\n", b"text/plain; charset=utf-8"
        case "invalid-json":
            data, content_type = b'{"id": "chatcmpl-1", "choices": [{"index": 0, "mess', reply.content_type
        case "empty":
            data, content_type = b"", reply.content_type
        case "exact":
            data, content_type = body.data, reply.content_type
    return Content([data] if data else [], len(data), content_type)


def _blocks(size: int) -> Iterator[bytes]:
    """Yield printable bytes in blocks.

    The blocks differ, because the bytes repeat every 95 bytes and the block length is not a multiple of 95.
    """
    for start in range(0, size, BLOCK_BYTES):
        shift = start % 95
        yield _BLOCK[shift : shift + min(BLOCK_BYTES, size - start)]
