"""Check that a proxy responds correctly and logs what it claims to log.

A proxy that fails the check is not measured.
"""

import http.client
import json
from collections.abc import Callable
from pathlib import Path

from tests.support.server import wait_until

from benchmarks.comparison.request import STREAM_BODY
from benchmarks.peers.mitmdump import Mitmdump
from benchmarks.peers.nginx_lua import NginxLua
from benchmarks.peers.peer import Peer
from benchmarks.peers.relaybook import RelaybookPeer
from benchmarks.traffic.event_provider import EventStream
from benchmarks.traffic.messages import ANSWER_BODY, FIVE, REQUEST_BODY

#: Number of events per stream while proxies are checked.
EVENTS = 5
_SECONDS = 30.0


class Broken(Exception):
    """The proxy is not measured. The message says what is wrong with its response or its log."""


def check(peer: Peer, keeps_bytes: bool) -> str:
    """Check the responses, and return a description of them.

    The upstream must be ``benchmarks.comparison.provider`` with ``EVENTS`` events per stream.
    """
    plain = _send(peer, REQUEST_BODY, "plain request")
    if _content(plain, "message") != _content(ANSWER_BODY, "message"):
        raise Broken("plain request: another content than the provider's")
    stream = _send(peer, STREAM_BODY, "streamed request")
    events = [line.removeprefix(b"data: ") for line in stream.splitlines() if line.startswith(b"data: ")]
    if events[-1:] != [b"[DONE]"]:
        raise Broken("streamed request: it does not end with [DONE]")
    text = "".join(_content(event, "delta") for event in events[:-1])
    if text != " token" * EVENTS:
        raise Broken(f"streamed request: {text!r} instead of {EVENTS} tokens")
    complete = b"".join(_data(each) for each in (*[EventStream.chunk] * EVENTS, EventStream.end))
    same = plain == ANSWER_BODY and stream == complete
    if keeps_bytes and not same:
        raise Broken("other bytes than the provider's")
    _check_log(peer, stream)
    return "the provider's bytes" if same else "the provider's content in other bytes"


def _send(peer: Peer, body: bytes, what: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=_SECONDS)
    try:
        connection.request("POST", "/v1/chat/completions", body, FIVE.request | dict(peer.headers))
        response = connection.getresponse()
        data = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise Broken(f"{what}: {error!r}") from None
    finally:
        connection.close()
    if response.status != 200:
        raise Broken(f"{what}: status {response.status}: {data[:120].decode('utf-8', 'replace')}")
    return data


def _content(data: bytes, part: str) -> str:
    try:
        return "".join(choice[part].get("content") or "" for choice in json.loads(data)["choices"])
    except (ValueError, KeyError, TypeError) as error:
        raise Broken(f"no completion: {error!r}") from None


def _data(chunk: bytes) -> bytes:
    """Return the content of the upstream's chunks, without HTTP framing."""
    return chunk.partition(b"\r\n")[2].removesuffix(b"0\r\n\r\n").removesuffix(b"\r\n")


def _check_log(peer: Peer, stream: bytes) -> None:
    bodies = (REQUEST_BODY, ANSWER_BODY, STREAM_BODY, stream)
    if isinstance(peer, NginxLua | Mitmdump):

        def has_all() -> bool:
            if isinstance(peer, Mitmdump):  # its buffer is written when it is full
                _send(peer, REQUEST_BODY, "plain request")
            return all(body in _read(peer.log) for body in bodies)

        _see(has_all, "bodies are not in its log")
    if isinstance(peer, RelaybookPeer):
        _see(lambda: len(peer.records()) >= 2, "requests are not in its log")
        ids = [record["id"] for record in peer.records()]
        logged = {peer.body(each, side) for each in ids for side in ("request", "response")}
        if missing := set(bodies) - logged:
            raise Broken(f"{len(missing)} bodies are not in its log")


def _read(path: Path) -> bytes:
    return path.read_bytes()


def _see(found: Callable[[], bool], otherwise: str) -> None:
    try:
        wait_until(found, _SECONDS)
    except AssertionError:
        raise Broken(otherwise) from None
