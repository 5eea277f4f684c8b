"""The setups of the tables of clients work as they are written, with the official SDKs and the simulated upstream."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.clients_page import CLIENTS
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.settings.client_setup import Snippet, fill

_BY_ID = {client.id: client for client in CLIENTS}
#: The SDKs of these clients are installed with the tests.
_INSTALLED = ("python", "anthropic-python")
_CHAT = "client.chat.completions.create(model='gpt-4o-mini', messages=[{'role': 'user', 'content': 'Hello'}])"
_MESSAGE = (
    "client.messages.create(model='claude-haiku-4-5', max_tokens=9, messages=[{'role': 'user', 'content': 'Hello'}])"
)
#: Programs that do not know the relay.
_UNCHANGED = {
    "python": f"from openai import OpenAI; client = OpenAI(); {_CHAT}",
    "anthropic-python": f"from anthropic import Anthropic; client = Anthropic(); {_MESSAGE}",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("clients")
    with SimulatedProvider() as provider:
        settings = directory / "relaybook.toml"
        settings.write_text(f'[routes.anthropic]\nupstream = "{provider.url.removesuffix("/v1")}"\n')
        with Server(directory, provider.url, "--config", str(settings)) as started:
            yield started


def code_of(server: Server, client: str, language: str) -> str:
    """Return the first snippet of a client in a language, for the routes of the server."""
    preset = _BY_ID[client].preset
    root = server.base_url.removesuffix("/v1")
    path = "/v1" if preset == "openai" else f"/{preset}"
    values = {
        "url": root + path,
        "namespace_url": f"{root}/ns/my-app{path}",
        "root": root,
        "prefix": "Service",
        "key": "any-key",
        "any_key": "any-key",
        "$OPENAI_API_KEY": "any-key",
    }
    snippet: Snippet = next(each for each in _BY_ID[client].setup if each.language == language)
    return fill(snippet.code, values)


def run(server: Server, command: list[str], code: str, directory: Path) -> tuple[str, str, dict[str, str], int]:
    """Run code, and return route, namespace, properties and status of its only request."""
    known = {row["id"] for row in server.records()}
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "ANTHROPIC_"))}
    subprocess.run(command, input=code, text=True, check=True, cwd=directory, env=env, timeout=60)
    (row,) = wait_until(lambda: [row for row in server.records() if row["id"] not in known])
    return row["route"], row["namespace"], row["properties"], row["status"]


def route_of(client: str) -> str:
    return "anthropic" if client.startswith("anthropic") else "default"


@pytest.mark.parametrize("client", _INSTALLED)
def test_a_program_sends_one_request_through_its_route_with_its_tags(
    server: Server, client: str, tmp_path: Path
) -> None:
    found = run(server, [sys.executable, "-"], code_of(server, client, "python"), tmp_path)
    assert found == (route_of(client), "my-app", {"user-id": "42"}, 200)


@pytest.mark.parametrize("client", _INSTALLED)
def test_the_environment_is_enough_for_a_program_that_does_not_know_the_relay(
    server: Server, client: str, tmp_path: Path
) -> None:
    script = f'{code_of(server, client, "sh")}\n"{sys.executable}" -c "{_UNCHANGED[client]}"\n'
    assert run(server, ["sh", "-"], script, tmp_path) == (route_of(client), "my-app", {"team": "web"}, 200)


def test_curl_sends_one_request_with_a_namespace(server: Server, tmp_path: Path) -> None:
    assert run(server, ["sh", "-"], code_of(server, "curl", "sh"), tmp_path) == ("default", "my-app", {}, 200)
