"""Send the requests of a run: a script of several shapes, one request that the upstream aborts, and small requests."""

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import pytest
from tests.crash import plans
from tests.crash.judge import Call
from tests.crash.load import KEY, Choice, Load, RunningCall
from tests.crash.service import wait_for
from tests.crash.strace import TIMEOUT_SECONDS

#: Larger than a segment. In these tests a segment holds 1 MiB.
LARGE_BYTES: Final = 1_100 << 10
SCRIPT: Final[tuple[Choice, ...]] = (
    ("upload", 300, None),
    ("large", LARGE_BYTES, None),
    ("stream", 12, None),
    ("whole", 400, None),
    ("stream", 30, 500),
    ("whole", 3000, None),
    ("stream", 6, None),
)
_SMALL: Final[tuple[Choice, ...]] = (("whole", 100, None),)
_CLIENTS: Final = 3
_PAUSE_SECONDS: Final = 0.1


async def send_script(
    port: int, prefix: str, script: tuple[Choice, ...] = SCRIPT, *, until_refused: bool = False
) -> list[RunningCall]:
    """Send all requests of a script, at most three at a time. Their tags start with ``prefix``.

    With ``until_refused``, end early if a connection is refused, because the server may have died.
    """
    over: list[asyncio.Task[None]] = []
    left: Iterator[Choice] = iter(script)

    def choose(_: random.Random) -> Choice:
        choice = next(left, _SMALL[0])  # a client may start one more request before it is stopped
        if choice is script[-1]:
            over.append(asyncio.ensure_future(load.finish()))
        return choice

    load = Load(port, min(_CLIENTS, len(script)), random.Random(0), choose)
    load.start(prefix)
    with pytest.MonkeyPatch.context() as patch:
        # Only clients build requests, so no other process needs the patch.
        patch.setattr(plans, "UPLOAD_BYTES", LARGE_BYTES)
        try:
            await wait_for(lambda: over or (until_refused and load.refused_at), "asking everything", TIMEOUT_SECONDS)
            await (over[0] if over else load.finish())
        finally:
            await load.abandon()
    return load.calls


async def send_until_success(port: int, prefix: str) -> list[RunningCall]:
    """Send small requests, one after the other, until one gets a complete response with status 200."""
    calls: list[RunningCall] = []
    end = time.monotonic() + TIMEOUT_SECONDS
    while True:
        calls += await send_script(port, f"{prefix}-{len(calls)}", _SMALL)
        if calls[-1].complete and calls[-1].status == 200:
            return calls
        assert time.monotonic() < end, f"no success within {TIMEOUT_SECONDS} s: {bytes(calls[-1].received)!r}"
        await asyncio.sleep(_PAUSE_SECONDS)


async def send_aborted(port: int, tag: str) -> Call:
    """Send one request with a malformed tag, so that the upstream aborts the request."""
    body = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "%b"}]}' % tag.encode()
    call = Call(tag=tag, request=body)
    lines = (
        "POST /v1/chat/completions HTTP/1.1",
        "Host: 127.0.0.1",
        f"Crash-Tag: {tag}",
        f"Service-Namespace: {tag}",
        f"Service-Property-Tag: {tag}",
        f"Authorization: Bearer {KEY}",
        "Connection: close",
        f"Content-Length: {len(body)}",
    )
    response = b""
    with suppress(ConnectionError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while chunk := await reader.read(1 << 16):
                response += chunk
        writer.close()
    _store_response(call, response)
    return call


def _store_response(call: Call, response: bytes) -> None:
    head, end, body = response.partition(b"\r\n\r\n")
    if end:
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        identity = fields.get(b"service-request-id")
        call.status = int(head.split()[1])
        call.request_id = identity.decode() if identity else None
        call.received += body
        call.complete = len(body) == int(fields[b"content-length"])
