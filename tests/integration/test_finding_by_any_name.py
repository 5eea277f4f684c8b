"""A running server finds requests by whatever ids, property names and phrases their clients sent."""

import json
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.log.query.language import written_name

#: What clients send as ``X-Client-Request-Id``.
CLIENT_IDS = ("job-" + "0123456789" * 30, "job-" + "0123456789" * 30 + "x", "job/7/request", "a?b#c d%2Fe/feedback")
#: Names in the body's ``metadata``.
NAMES = ("my app", "trace:id", 'say "hi"', "größe*", "a/b?c&d=e", "-x")


def send(server: Server, client_id: str, metadata: dict[str, str]) -> None:
    prompt = {"role": "user", "content": "beta question"}
    body = {"model": "gpt-4o-mini", "messages": [prompt, prompt | {"content": "alpha"}], "metadata": metadata}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test", "X-Client-Request-Id": client_id}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode(), headers)
    urllib.request.urlopen(request, timeout=30).close()


def get(server: Server, path: str, **body: Any) -> Any:
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(f"{server.dashboard}/api/{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def test_a_request_is_found_by_its_client_id_its_metadata_and_the_phrases_of_its_texts(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        for number, client_id in enumerate(CLIENT_IDS):
            send(server, client_id, dict.fromkeys(NAMES, f"v{number}") | {" ": "x"})
        rows = wait_until(lambda: len(found := server.records("")) == len(CLIENT_IDS) and found, what="the records")
        for number, client_id in enumerate(CLIENT_IDS):
            path = f"requests/{quote(client_id, safe='')}"
            row = rows[len(CLIENT_IDS) - 1 - number]
            assert get(server, f"{path}/feedback", score=number)["state"] == "stored"
            detail = get(server, path)
            assert (detail["id"], detail["also"]) == (row["id"], [])
            assert [each["score"] for each in detail["feedback"]] == [number]
            assert get(server, f"{path}/request")["messages"][1]["content"] == "alpha"
            assert [warning["code"] for warning in row["warnings"]] == ["empty_property_name"]
            for name in NAMES:
                for pair in (
                    (f"property.{name}", f"v{number}"),
                    ("q", f"{written_name(f'property.{name}')}:v{number}"),
                ):
                    assert [each["id"] for each in get(server, f"requests?{urlencode([pair])}")["data"]] == [row["id"]]

        def matches(phrase: str) -> int:
            return int(get(server, f"count?{urlencode({'q': phrase})}")["requests"])

        wait_until(lambda: matches('"beta question"') == len(CLIENT_IDS), what="indexing the texts")
        assert [matches(phrase) for phrase in ("alpha", '"question alpha"', '"alpha beta"', '"alpha be"*')] == [
            4,
            0,
            0,
            0,
        ]
