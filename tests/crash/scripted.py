"""The requests of a run: a fixed script of every shape, one that the provider breaks off, and small ones afterwards.

The script has streamed and whole answers, an answer and an upload larger than a segment, and a caller who leaves.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import pytest
from tests.crash import plans
from tests.crash.judge import Call
from tests.crash.load import KEY, Asked, Choice, Load
from tests.crash.service import until
from tests.crash.strace import PATIENCE_SECONDS

#: Larger than a segment, which holds 1 MiB here.
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
_CALLERS: Final = 3
_PAUSE_SECONDS: Final = 0.1


async def ask_all(port: int, prefix: str, script: tuple[Choice, ...] = SCRIPT) -> list[Asked]:
    """Asks all of a script, three at a time. ``prefix`` begins their tags."""
    over: list[asyncio.Task[None]] = []
    left: Iterator[Choice] = iter(script)

    def choose(_: random.Random) -> Choice:
        choice = next(left, _SMALL[0])  # a caller may come once more before the end of the asking reaches it
        if choice is script[-1]:
            over.append(asyncio.ensure_future(load.finish()))
        return choice

    load = Load(port, min(_CALLERS, len(script)), random.Random(0), choose)
    load.start(prefix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "UPLOAD_BYTES", LARGE_BYTES)  # only callers make requests, so nobody else need know
        try:
            await until(lambda: over, "asking everything", PATIENCE_SECONDS)
            await over[0]
        finally:
            await load.abandon()
    return load.calls


async def ask_until_answered(port: int, prefix: str) -> list[Asked]:
    """Small requests, one after the other, until one is answered whole with status 200."""
    asked: list[Asked] = []
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        asked += await ask_all(port, f"{prefix}-{len(asked)}", _SMALL)
        if asked[-1].complete and asked[-1].status == 200:
            return asked
        assert time.monotonic() < end, f"no good answer within {PATIENCE_SECONDS} s: {bytes(asked[-1].received)!r}"
        await asyncio.sleep(_PAUSE_SECONDS)


async def ask_in_vain(port: int, tag: str) -> Call:
    """One request that the provider breaks off: it cannot read the tag."""
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
    answer = b""
    with suppress(ConnectionError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while piece := await reader.read(1 << 16):
                answer += piece
        writer.close()
    _note_answer(call, answer)
    return call


def _note_answer(call: Call, answer: bytes) -> None:
    head, end, body = answer.partition(b"\r\n\r\n")
    if end:
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        identity = fields.get(b"service-request-id")
        call.status = int(head.split()[1])
        call.request_id = identity.decode() if identity else None
        call.received += body
        call.complete = len(body) == int(fields[b"content-length"])
