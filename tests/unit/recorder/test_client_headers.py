"""Test the session, user and agents of client programs, from the headers and bodies that these programs send."""

import json
from typing import Any

import pytest
from tests.support.frames import Script

from relaybook.client_headers import CLIENT_HEADERS
from relaybook.log.prices import Prices
from relaybook.log.record import Record
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold

A = b"a" * 16
SESSION = "0199a213-81c0-7800-8aa1-bbab2a035a53"
OTHER = "11111111-2222-4333-8444-555555555555"
CHAT, RESPONSES, MESSAGES = b"/v1/chat/completions", b"/v1/responses", b"/v1/messages"
CODEX = {
    "user-agent": "codex_exec/0.171.0 (Debian 12; x86_64)",
    "originator": "codex_exec",
    "session-id": SESSION,
    "thread-id": SESSION,
    "x-client-request-id": SESSION,
    "x-codex-window-id": f"{SESSION}:0",
    "x-codex-turn-metadata": json.dumps({"session_id": SESSION, "thread_id": SESSION, "turn_id": OTHER}),
}
CLAUDE_CODE = {
    "User-Agent": "claude-cli/2.1.197 (external, sdk-cli)",
    "x-app": "cli",
    "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
    "X-Claude-Code-Session-Id": SESSION,
}
OPENCODE = {
    "user-agent": "opencode/1.18.33",
    "originator": "opencode",
    "x-session-id": "ses_5f2c1d0b9ffe",
    "x-session-affinity": "ses_5f2c1d0b9ffe",
}
OPEN_WEBUI = {
    "X-OpenWebUI-User-Name": "Ada",
    "X-OpenWebUI-User-Id": "7f3c",
    "X-OpenWebUI-User-Email": "ada@example.com",
    "X-OpenWebUI-User-Role": "user",
    "X-OpenWebUI-Chat-Id": "chat-1",
    "X-OpenWebUI-Message-Id": "message-1",
}


def recorded(
    headers: dict[str, str] | bytes = b"", body: Any = None, path: bytes = CHAT, *, is_read: bool = True, **fields: Any
) -> Record:
    """Return the record of a request with these headers and this body."""
    head = headers if isinstance(headers, bytes) else "\r\n".join(f"{n}: {v}" for n, v in headers.items()).encode()
    request = json.dumps(body or {"model": "gpt-5", "messages": []}).encode()
    script = Script().open(A, head=b"Host: localhost\r\n" + head, target=path, **fields).request(A, request).close(A)
    (exchange,) = Fold().feed(script.frames)
    builder = EntryBuilder(Prices(), lambda ref: b"")
    return builder.entry(exchange, builder.bodies(exchange) if is_read else None).record


def with_user(user_id: object) -> dict[str, Any]:
    return {"model": "claude-sonnet-5", "max_tokens": 9, "messages": [], "metadata": {"user_id": user_id}}


@pytest.mark.parametrize(
    ("headers", "session"),
    [
        (CODEX, SESSION),
        (CODEX | {"session-id": ""}, SESSION),
        ({"session_id": SESSION}, SESSION),
        (CLAUDE_CODE, SESSION),
        (CLAUDE_CODE | {"session-id": OTHER}, SESSION),
        (OPENCODE, "ses_5f2c1d0b9ffe"),
        (OPENCODE | {"session-id": "ses_1"}, "ses_1"),
        (OPEN_WEBUI, "chat-1"),
        ({"x-opencode-session": "s-1"}, "s-1"),
        ({"X-Session-Id-2": SESSION, "my-session-id": SESSION}, None),
    ],
)
def test_a_session_is_read_from_the_headers_of_clients(headers: dict[str, str], session: str | None) -> None:
    record = recorded(headers)
    assert record.session == session


@pytest.mark.parametrize("header", CLIENT_HEADERS, ids=lambda header: header.name)
def test_a_header_is_read_in_any_case_and_without_reading_bodies(header: Any) -> None:
    record = recorded({header.name.upper(): " \tv-1 "}, is_read=False)
    found = {
        "session": record.session,
        "user": record.user,
        "agent": record.properties.get("agent"),
        "parent_agent": record.properties.get("parent-agent"),
    }
    assert found == dict.fromkeys(found) | {header.meaning: "v-1"}


CLAUDE_USER = {"device_id": "ab" * 32, "account_uuid": OTHER, "session_id": SESSION}
OLD_CLAUDE_USER = f"user_{'ab' * 32}_account_{OTHER}_session_{SESSION}"


@pytest.mark.parametrize(
    ("path", "body", "session"),
    [
        (MESSAGES, with_user(json.dumps(CLAUDE_USER)), SESSION),
        (MESSAGES, with_user(OLD_CLAUDE_USER), SESSION),
        (RESPONSES, {"input": "Hi", "conversation": "conv_1"}, "conv_1"),
        (RESPONSES, {"input": "Hi", "conversation": {"id": "conv_1"}, "prompt_cache_key": SESSION}, "conv_1"),
        (RESPONSES, {"input": "Hi", "client_metadata": {"thread_id": SESSION}, "prompt_cache_key": OTHER}, SESSION),
        (RESPONSES, {"input": "Hi", "client_metadata": {"thread_id": OTHER, "session_id": SESSION}}, SESSION),
        (CHAT, {"messages": [], "session_id": "agent-7"}, "agent-7"),
        (CHAT, {"messages": [], "prompt_cache_key": SESSION}, SESSION),
        (CHAT, {"messages": [], "prompt_cache_key": "ses_5f2c1d0b9ffe"}, "ses_5f2c1d0b9ffe"),
    ],
)
def test_a_session_is_read_from_the_body(path: bytes, body: Any, session: str) -> None:
    assert recorded(body=body, path=path).session == session


@pytest.mark.parametrize("key", ["support-v7", "gpt-5-2026-08-07", "0" * 64, "", 7, None, {"id": SESSION}])
def test_a_cache_key_that_is_no_id_of_a_session_is_no_session(key: object) -> None:
    record = recorded(body={"messages": [], "prompt_cache_key": key})
    assert record.session is None
    assert record.prompt_cache_key == (key if isinstance(key, str) and key else None)


@pytest.mark.parametrize(
    "body",
    [
        {"session_id": " "},
        {"session_id": 5},
        {"client_metadata": "x"},
        {"client_metadata": {"session_id": None, "thread_id": ["x"]}},
        {"metadata": {"user_id": '{"session_id": 5}'}},
        {"metadata": {"session": "s-1"}},
    ],
)
def test_odd_values_are_no_session(body: Any) -> None:
    assert recorded(body={"messages": []} | body).session is None


def test_the_session_of_a_header_precedes_the_session_of_the_body() -> None:
    record = recorded(CODEX, {"input": "Hi", "prompt_cache_key": OTHER}, RESPONSES)
    assert (record.session, record.prompt_cache_key) == (SESSION, OTHER)


def test_the_session_of_claude_code_is_no_property() -> None:
    record = recorded(body=with_user(OLD_CLAUDE_USER), path=MESSAGES)
    assert (record.user, record.session, record.properties) == (OTHER, SESSION, {})


@pytest.mark.parametrize("is_header", [True, False])
def test_a_long_session_is_shortened_alike_in_header_and_body(is_header: bool) -> None:
    def session(text: str) -> str | None:
        return (recorded({"session-id": text}) if is_header else recorded(body={"session_id": text})).session

    one, other = session("s" * 300 + "1"), session("s" * 300 + "2")
    assert one is not None
    assert other is not None
    assert one != other
    assert len(one) == len(other) == 256
    assert one == recorded({"session-id": "s" * 300 + "1"}).session


def test_a_lone_surrogate_in_a_session_is_replaced() -> None:
    assert recorded(body={"messages": [], "session_id": "a\ud800"}).session == "a\ufffd"


def test_a_header_that_is_not_utf_8_is_read_as_latin_1() -> None:
    assert recorded(b"session-id: caf\xe9").session == "café"


@pytest.mark.parametrize(
    ("headers", "body", "user"),
    [
        (OPEN_WEBUI, {"messages": []}, "7f3c"),
        ({"X-OpenWebUI-User-Email": "ada@example.com"}, {"messages": []}, "ada@example.com"),
        ({"x-gemini-api-privileged-user-id": "installation-1"}, {"messages": []}, "installation-1"),
        (OPEN_WEBUI, {"messages": [], "user": "u-42"}, "u-42"),
    ],
)
def test_the_user_of_a_header_counts_if_the_body_has_none(headers: dict[str, str], body: Any, user: str) -> None:
    assert recorded(headers, body).user == user


SUBAGENT = CLAUDE_CODE | {"x-claude-code-agent-id": "a1b2", "x-claude-code-parent-agent-id": "main"}


def test_the_agents_of_claude_code_become_properties() -> None:
    record = recorded(SUBAGENT, with_user(json.dumps(CLAUDE_USER)), MESSAGES, properties={"team": "red"})
    assert record.properties == {"team": "red", "agent": "a1b2", "parent-agent": "main"}
    assert record.session == SESSION
    assert record.warnings == []


def test_a_property_of_a_header_precedes_an_agent() -> None:
    assert recorded(SUBAGENT, properties={"agent": "mine"}).properties == {"agent": "mine", "parent-agent": "main"}
