"""Test the messages for paths that no route serves."""

import json
import re
from types import SimpleNamespace
from typing import cast

import pytest
from tests.support.raw_http import at
from tests.support.relay_world import RelayWorld

from relaybook.relay.context import RelayContext
from relaybook.relay.not_found import not_found_message
from relaybook.settings.definitions import Settings
from relaybook.settings.routes import RouteSettings


def relay_with(*presets: str) -> RelayContext:
    settings = Settings(routes={name: RouteSettings(preset=name) for name in presets})
    fake = SimpleNamespace(
        base_url="http://h:4100/v1",
        dashboard_url="http://h:4101",
        resolved=settings.resolved_routes(),
    )
    return cast(RelayContext, fake)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (b"/v1beta/models/gemini-2.5-flash:generateContent?key=x", "--routes gemini, and use .*http://h:4100/gemini."),
        (b"/api/chat", "is a path of Ollama.*--routes ollama, and use the base URL http://h:4100/ollama."),
        (b"/api/tags", "--routes ollama"),
        (b"/v2/chat", "is a path of Cohere.*--routes cohere"),
        (b"/openai/deployments/gpt-4o/chat/completions?api-version=1", r"a table \[routes.azure\] in relaybook.toml"),
        (b"/openai/v1/models", "--routes groq, and use the base URL http://h:4100/groq. .*--routes openai"),
        (b"/anthropic/v1/messages", "--routes anthropic, and use the base URL http://h:4100/anthropic."),
        (b"/mistral/v1/chat/completions", "--routes mistral, and use the base URL http://h:4100/mistral/v1."),
        (b"/chat/completions", "probably lacks /v1. Use http://h:4100/v1$"),
        (b"/proxy/v1/chat/completions", "Remove /proxy from the base URL"),
        (b"/api/requests", "The log is at http://h:4101."),
        (b"/requests/1", "The log is at http://h:4101."),
        (b"*", "probably lacks /v1"),
    ],
)
def test_the_message_says_what_the_path_needs(target: bytes, words: str) -> None:
    assert_says(not_found_message(relay_with(), target), words)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (b"/v1beta/models", "^/v1beta/models is a path of Gemini.*Use the base URL http://h:4100/gemini.$"),
        (b"/api/chat", "Use the base URL http://h:4100/ollama.$"),
        (
            b"/messages",
            "/v1. All base URLs of this relay: http://h:4100/v1, http://h:4100/gemini, http://h:4100/ollama$",
        ),
    ],
)
def test_a_route_that_exists_is_named(target: bytes, words: str) -> None:
    assert_says(not_found_message(relay_with("gemini", "ollama"), target), words)


def assert_says(message: str, pattern: str) -> None:
    assert re.search(pattern, message), message


@pytest.mark.parametrize(("path", "is_text"), [(b"/api/chat", True), (b"/api/tags", True), (b"/v1/api", False)])
def test_clients_of_ollama_get_the_error_as_a_text(path: bytes, is_text: bool) -> None:
    """Ollama's JavaScript client shows an object as "[object Object]"."""
    world = RelayWorld(listen="0.0.0.0:4100").feed(at(path.replace(b"/v1", b""), b"POST"))
    head, _, body = world.transport.said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert isinstance(json.loads(body)["error"], str) is is_text
