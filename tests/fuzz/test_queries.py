"""Fuzz the queries of the dashboard's API: each query is served, or rejected with an error code and a message."""

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any, Final

from tests.fuzz.fuzzing import fuzz
from tests.support.api_log import app_of, entry_of, record_of
from tests.support.asgi import scope_of

from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

PATHS: Final = [
    *("/api/requests", "/api/count", "/api/namespaces", "/api/values/namespace", "/api/values/property.user"),
    *("/api/requests/%d", "/api/requests/1/request", "/api/status", "/api/values/model"),
    *("/api/query", "/api/query"),
]
SEEDS: Final = [
    b"namespace=ios&model=gpt-4o&limit=5&not.status=4xx&failed=true&from=-7d&to=2026-01-01T00:00:00Z",
    b"property.user_id=42&namespace_prefix=a%25&cursor=o5&outcome=complete&kind=chat&warning=x",
    b"around=00000000-0000-7000-8000-000000000001&limit=500",
    b"words=refund&begins.model=gpt&not.begins.words=la&begins.property.user=4",
    b"q=model:gpt*+-%22late%22*+duration:%3E2s+property.user:1&caret=7",
    b"prefix=%25&limit=1&sort=last_at&pinned=true&as=sent&q=x",
    b"namespace=%27%3B+DROP+TABLE+records%3B--&property.a%27b=%22&not.property.%00=1",
]
WORDS: Final = [
    *(b"&cursor=o" + b"9" * 30 + b"&", b"&limit=" + b"9" * 30 + b"&", b"&status=" + b"9" * 30 + b"&", b"&id=%00&"),
    *(b"&", b"=", b"%", b"%00", b"%ff", b"%27", b"%22", b"%25", b"+", b"not.", b"property.", b"9" * 30, b"-1", b"\xff"),
    *(b"sort=cost_usd", b"cursor=n" + b"9" * 18, b"from=", b"to=-999999w", b"from=0001-01-01", b"limit=0", b"a" * 3000),
    *(
        b"UNION SELECT",
        b"%F0%9F%98%80",
        b"%ed%a0%80",
        b"status=error",
        b"id=",
        b"path=/v1/",
        b"not.not.",
        b"from=9999-12-31",
    ),
]


def test_no_query_causes_an_internal_error(tmp_path: Any) -> None:
    writer = SqliteWriter(tmp_path / "store")
    writer.commit(
        Batch(
            entries=[entry_of(record_of(n, namespace=f"n{n % 3}", properties={"user": str(n)})) for n in range(1, 40)]
        )
    )
    reader = SqliteReader(tmp_path / "store")
    app = app_of(reader)
    with asyncio.Runner() as runner:
        ask = _client(app, runner)

        def is_served_or_rejected(query: bytes, choices: random.Random) -> None:
            status, body = ask(choices.choice(PATHS), query)
            assert status in (200, 400, 404), (status, body)
            if status != 200:
                error = json.loads(body)["error"]
                assert error["code"] in ("bad_parameter", "not_found")
                assert error["message"]

        fuzz(is_served_or_rejected, SEEDS, WORDS, 1_000)
    assert reader.status().records == 39
    reader.close()
    writer.close()


def _client(app: Any, runner: asyncio.Runner) -> Callable[[str, bytes], tuple[int, bytes]]:
    """Return a function that sends requests to the application on one event loop, with an unchanged query."""

    async def ask(path: str, query: bytes) -> tuple[int, bytes]:
        messages: list[Any] = []

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            messages.append(message)

        scope = scope_of("GET", path, []) | {"query_string": query}
        await app(scope, receive, send)
        return messages[0]["status"], b"".join(message.get("body", b"") for message in messages[1:])

    return lambda path, query: runner.run(ask(path, query))
