"""Create API keys in every form, and search for keys in everything that a server writes or outputs."""

import json
import re
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from tests.support.files import contents_below, raw_and_decompressed
from tests.support.raw_http import PATH
from tests.support.server import Server


@dataclass(frozen=True)
class KeyForm:
    """A way to send a key. ``{key}`` marks the place of the key.

    With ``echoed``, the key is the API key of the request and is masked everywhere.
    """

    what: str
    lines: tuple[str, ...] = ()
    query: str = ""
    prefix: str = ""
    suffix: str = ""
    echoed: bool = True


FORMS: Final = [
    KeyForm("bearer", ("Authorization: Bearer {key}",), prefix="sk-proj-"),
    KeyForm("bearer without a prefix", ("Authorization: Bearer {key}",)),
    KeyForm("Azure's api-key", ("api-key: {key}",)),
    KeyForm("x-api-key", ("x-api-key: {key}",), prefix="sk-ant-"),
    KeyForm("basic", ("Authorization: Basic {key}",), suffix="=="),
    KeyForm("no scheme", ("Authorization: {key}",)),
    KeyForm("a scheme nobody knows", ("Authorization: Weird {key}",)),
    KeyForm("x-goog-api-key", ("x-goog-api-key: {key}",), prefix="AIza"),
    KeyForm("Ocp-Apim-Subscription-Key", ("Ocp-Apim-Subscription-Key: {key}",)),
    KeyForm(
        "a WebSocket subprotocol", ("Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.{key}",), prefix="sk-"
    ),
    KeyForm("a key in the query", query="?alt=sse&key={key}", prefix="AIza"),
    KeyForm("a bearer that is also in the query", ("Authorization: Bearer {key}",), query="?id={key}", prefix="sk-"),
    KeyForm("4 KiB", ("Authorization: Bearer {key}",), suffix="k" * 4096),
    KeyForm("not ASCII", ("Authorization: Bearer {key}",), prefix="schlüssel-鍵-"),
    KeyForm("an empty api-key before it", ("api-key:", "x-api-key: {key}"), prefix="sk-ant-"),
    KeyForm("an empty bearer before it", ("Authorization: Bearer ", "x-api-key: {key}")),
    KeyForm("a shorter key before it", ("key: a", "monkey: a{key}"), echoed=False),
    KeyForm("Proxy-Authorization", ("Proxy-Authorization: Basic {key}",), echoed=False),
    KeyForm("Cookie", ("Cookie: theme=dark; session={key}; a=b",), echoed=False),
    KeyForm("two Cookies", ("Cookie: a", "Cookie: a{key}"), echoed=False),
    KeyForm("a header of another name", ("X-Company-Secret: {key}",), echoed=False),
]


_KEY: Final = re.compile(rb"canary[0-9a-f]{40}")


def new_key(form: KeyForm) -> str:
    """Return a unique key of this form."""
    return f"{form.prefix}canary{uuid4().hex}{uuid4().hex[:8]}{form.suffix}"


def keys_in(text: bytes | str) -> set[str]:
    """Return the identifying part of each key in a text."""
    return {key.decode() for key in _KEY.findall(text.encode() if isinstance(text, str) else text)}


def with_key(form: KeyForm, key: str, *lines: str, path: str = PATH, body: bytes = b"{}") -> bytes:
    """Return a request with the key in the places that the form defines, and with additional header lines."""
    head = [f"POST {path}{form.query.format(key=key)} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    key_lines = [line.format(key=key) for line in form.lines]
    return "\r\n".join([*head, *key_lines, *lines, "", ""]).encode() + body


def found(server: Server) -> dict[str, set[str]]:
    """Return the keys found in the data directory, outputs, metrics and API, by place. Omit places without keys."""
    keys_by_place = {"stdout": keys_in(server.stdout), "stderr": keys_in(server.stderr)}
    for name, content in contents_below(server.data):
        keys_by_place[name] = set().union(*map(keys_in, raw_and_decompressed(content)))
    if server.process.poll() is None:
        keys_by_place["/metrics"] = keys_in(server.metrics())
        keys_by_place |= {path: keys_in(json.dumps(server.get(path))) for path in _paths(server)}
    return {place: keys for place, keys in keys_by_place.items() if keys}


def _paths(server: Server) -> list[str]:
    """Return every API path that returns data from the log."""
    ids = [row["id"] for row in server.records()]
    lists = ["/api/requests?limit=500", "/api/status", "/api/values/key", "/api/values/user", "/api/namespaces"]
    return [*lists, *(f"/api/requests/{record_id}" for record_id in ids)]
