"""A key is masked and identifies its client in the same way in every form and on every route."""

import re
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Final

import pytest
from tests.integration.hostile.secrets import KeyForm, found, keys_in, new_key
from tests.support.named_upstream import NamedUpstream
from tests.support.server import Server, wait_until

#: The routes, and a path of the API of each route.
PATHS: Final = {
    "default": "/v1/chat/completions",
    "azure": "/azure/openai/deployments/gpt-4o/chat/completions",
    "anthropic": "/anthropic/v1/messages",
    "gemini": "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
    "ollama": "/ollama/api/chat",
    "own": "/own/v1/anything",
}
#: The forms in which a client sends its key: a header line or a query.
FORMS: Final = (
    "Authorization: Bearer {key}",
    "x-api-key: {key}",
    "x-goog-api-key: {key}",
    "api-key: {key}",
    "Ocp-Apim-Subscription-Key: {key}",
    "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.{key}",
    "?alt=sse&key={key}",
    "?api_key={key}",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("keys")
    with NamedUpstream("any") as upstream:
        settings = directory / "relaybook.toml"
        names = [name for name in PATHS if name != "default"]
        settings.write_text("".join(f'[routes.{name}]\nupstream = "{upstream.root}"\n' for name in names))
        with Server(directory, f"{upstream.root}/v1", "--config", str(settings)) as started:
            yield started


def send(server: Server, path: str, form: str, key: str) -> str:
    """Send a request with the key. Returns the id of its record."""
    text = form.format(key=key)
    is_query = text.startswith("?")
    name, _, value = text.partition(": ")
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("POST", path + (text if is_query else ""), b"{}", {} if is_query else {name: value})
        response = connection.getresponse()
        response.read()
        return response.headers["service-request-id"]


def test_every_form_has_the_same_fingerprint_on_every_route(server: Server) -> None:
    key = new_key(KeyForm("any"))
    ids = {(route, form): send(server, path, form, key) for route, path in PATHS.items() for form in FORMS}
    wait_until(lambda: len(server.records()) >= len(ids), what="all records")
    records = {each: server.record(request_id) for each, request_id in ids.items()}
    assert {each: record["route"] for each, record in records.items()} == {each: each[0] for each in records}
    (fingerprint,) = {record["key"] for record in records.values()}
    assert re.fullmatch("[0-9a-f]{12}", fingerprint)
    for (_, form), record in records.items():
        name, _, value = form.partition(": ")
        logged = f"?{record['query']}" if form.startswith("?") else dict(record["request_headers"])[name]
        assert logged == (value or form).format(key=f"key:{fingerprint}")
    assert {place: keys for place, keys in found(server).items() if keys & keys_in(key)} == {}
