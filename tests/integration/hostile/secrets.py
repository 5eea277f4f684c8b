"""Keys of every shape, and a search for them in everything a server writes or says."""

import json
import re
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from tests.support.files import contents_below, raw_and_decompressed
from tests.support.raw_http import PATH
from tests.support.server import Server


@dataclass(frozen=True)
class Shape:
    """A way to send a key; ``{key}`` is where it goes. ``echoed``: it is the request's own, masked wherever it is."""

    what: str
    lines: tuple[str, ...] = ()
    query: str = ""
    before: str = ""
    behind: str = ""
    echoed: bool = True


SHAPES: Final = [
    Shape("bearer", ("Authorization: Bearer {key}",), before="sk-proj-"),
    Shape("bearer without a prefix", ("Authorization: Bearer {key}",)),
    Shape("Azure's api-key", ("api-key: {key}",)),
    Shape("x-api-key", ("x-api-key: {key}",), before="sk-ant-"),
    Shape("basic", ("Authorization: Basic {key}",), behind="=="),
    Shape("no scheme", ("Authorization: {key}",)),
    Shape("a scheme nobody knows", ("Authorization: Weird {key}",)),
    Shape("x-goog-api-key", ("x-goog-api-key: {key}",), before="AIza"),
    Shape("a key in the query", query="?alt=sse&key={key}", before="AIza"),
    Shape("4 KiB", ("Authorization: Bearer {key}",), behind="k" * 4096),
    Shape("not ASCII", ("Authorization: Bearer {key}",), before="schlüssel-鍵-"),
    Shape("an empty api-key before it", ("api-key:", "x-api-key: {key}"), before="sk-ant-"),
    Shape("an empty bearer before it", ("Authorization: Bearer ", "x-api-key: {key}")),
    Shape("a shorter key before it", ("key: a", "monkey: a{key}"), echoed=False),
    Shape("Proxy-Authorization", ("Proxy-Authorization: Basic {key}",), echoed=False),
    Shape("Cookie", ("Cookie: theme=dark; session={key}; a=b",), echoed=False),
    Shape("two Cookies", ("Cookie: a", "Cookie: a{key}"), echoed=False),
    Shape("a header of another name", ("X-Company-Secret: {key}",), echoed=False),
]


_KEY: Final = re.compile(rb"canary[0-9a-f]{40}")


def new_key(shape: Shape) -> str:
    """A key of this shape that is nowhere else."""
    return f"{shape.before}canary{uuid4().hex}{uuid4().hex[:8]}{shape.behind}"


def keys_in(text: bytes | str) -> set[str]:
    """What makes each key in a text the one it is."""
    return {key.decode() for key in _KEY.findall(text.encode() if isinstance(text, str) else text)}


def with_key(shape: Shape, key: str, *lines: str, path: str = PATH, body: bytes = b"{}") -> bytes:
    """A request that carries a key in its shape's places, and these lines."""
    head = [f"POST {path}{shape.query.format(key=key)} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    sent = [line.format(key=key) for line in shape.lines]
    return "\r\n".join([*head, *sent, *lines, "", ""]).encode() + body


def found(server: Server) -> dict[str, set[str]]:
    """Every key anywhere, by place: files of the data directory, outputs, figures, the API; only where some are."""
    told = {"stdout": keys_in(server.stdout), "stderr": keys_in(server.stderr)}
    for name, content in contents_below(server.data):
        told[name] = set().union(*map(keys_in, raw_and_decompressed(content)))
    if server.process.poll() is None:
        told["/metrics"] = keys_in(server.metrics())
        told |= {path: keys_in(json.dumps(server.get(path))) for path in _paths(server)}
    return {place: keys for place, keys in told.items() if keys}


def _paths(server: Server) -> list[str]:
    """Everything the API tells of the log."""
    ids = [row["id"] for row in server.records()]
    lists = ["/api/requests?limit=500", "/api/status", "/api/values/key", "/api/values/user", "/api/namespaces"]
    return [*lists, *(f"/api/requests/{each}" for each in ids)]
