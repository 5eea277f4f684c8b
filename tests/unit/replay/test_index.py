"""Which logged request is replayed for a request of a client, and how a client learns what differs."""

import gzip
import json
from typing import Any

import pytest

from relaybook.log.ask.replay import ReplayableRequest
from relaybook.log.request_key import key_of, target_key
from relaybook.replay.difference import difference
from relaybook.replay.index import Index
from relaybook.replay.source import ClientRequest

PATH = "/v1/chat/completions"


def id_of(number: int) -> str:
    return f"0199a3aa-0000-7000-8000-{number:012x}"


def index_of(*bodies: bytes, ignored: tuple[list[str], ...] = (), target: str = PATH) -> Index:
    index = Index(ignored)
    for number, body in enumerate(bodies):
        index.add(
            ReplayableRequest(id_of(number), f"2026-01-01T00:00:{number:02}Z", "POST", target, key_of(body, ignored))
        )
    return index


def found(index: Index, body: bytes, target: str = PATH, **options: Any) -> tuple[int, str] | None:
    match = index.find(ClientRequest("POST", target, body, **options))
    return match and (int(match.id[-4:], 16), match.rule)


def test_equal_bytes_come_before_an_equal_value() -> None:
    index = index_of(b'{"b":1,"a":2}', b'{"a": 2, "b": 1}')
    assert found(index, b'{"a": 2, "b": 1}') == (1, "exact")
    assert found(index, b'{"a":2,"b":1.0}') == (0, "equal")


@pytest.mark.parametrize(
    ("logged", "sent", "rule"),
    [
        ('{"a": "ü", "b": [1, 2]}', '{"b":[1,2],"a":"\\u00fc"}', "equal"),
        ('{"a": 1e2}', '{"a": 100}', "equal"),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', None),
        ('{"a": null}', "{}", None),
        ('{"a": true}', '{"a": 1}', None),
        ("no JSON", "no  JSON", None),
        ("", "", "exact"),
        ("--x1\r\n\r\nfield\r\n--x1--", "--y22\r\n\r\nfield\r\n--y22--", "equal"),
        ("--x1\r\n\r\nfield\r\n--x1--", "--y22\r\n\r\nother\r\n--y22--", None),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}', "exact"),
        ("[" * 5000, "[" * 5000, "exact"),
    ],
)
def test_bodies_are_equal_if_they_mean_the_same(logged: str, sent: str, rule: str | None) -> None:
    assert found(index_of(logged.encode()), sent.encode()) == (None if rule is None else (0, rule))


def test_content_encoding_makes_no_difference() -> None:
    assert found(index_of(b'{"a": 1}'), gzip.compress(b'{"a": 1}'), content_encoding="gzip") == (0, "exact")


def test_ignored_fields_may_differ() -> None:
    ignored = (["metadata", "run"], ["messages", "id"])
    logged = b'{"metadata": {"run": 1, "k": 2}, "messages": [{"id": 1, "text": "a"}]}'
    index = index_of(logged, ignored=ignored)
    assert found(index, b'{"metadata": {"run": 9, "k": 2}, "messages": [{"id": 7, "text": "a"}]}') == (0, "equal")
    assert found(index, b'{"metadata": {"run": 9, "k": 3}, "messages": [{"id": 7, "text": "a"}]}') is None


def test_equal_requests_take_turns_by_their_start_and_the_last_repeats() -> None:
    index = Index()
    for number in (2, 0, 1):
        key = key_of(b"{}")
        index.add(ReplayableRequest(id_of(number), f"2026-01-01T00:00:{number:02}Z", "POST", PATH, key))
    assert [found(index, b"{}") for _ in range(4)] == [(0, "exact"), (1, "exact"), (2, "exact"), (2, "exact")]
    index.add(ReplayableRequest(id_of(3), "2026-01-01T00:00:03Z", "POST", PATH, key_of(b"{}")))
    assert found(index, b"{}") == (3, "exact")


def test_method_path_and_query_must_be_equal_but_secrets_in_the_query_are_not_compared() -> None:
    target = target_key("/gemini/v1/m", "alt=sse&key=key:0123456789ab")
    index = index_of(b"{}", target=target)
    assert target == "/gemini/v1/m?alt=sse&key=key"
    assert found(index, b"{}", target) == (0, "exact")
    assert found(index, b"{}", "/gemini/v1/m?alt=json&key=key") is None
    assert found(index, b"{}", "/gemini/v1/m") is None


def test_the_nearest_request_shares_most_of_the_body() -> None:
    def body(system: str, user: str) -> bytes:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return json.dumps({"model": "m", "messages": messages}).encode()

    users = ("Where is my refund?", "What is the weather in Rome?", "Write a haiku about rain")
    index = index_of(*(body("Be brief", user) for user in users))
    nearest = index.nearest(ClientRequest("POST", PATH, body("Be brief", "What is the weather in Paris?")))
    assert nearest[0] == id_of(1)
    assert index.nearest(ClientRequest("POST", "/v1/other", b"{}")) == []


@pytest.mark.parametrize(
    ("sent", "logged", "shown"),
    [
        ('{"a": {"b": [1, {"c": "x"}]}}', '{"a": {"b": [1, {"c": "y"}]}}', ("a.b[1].c", '"x"', '"y"')),
        ('{"a": 1, "b": 2}', '{"b": 3}', ("a", "1", "nothing")),
        ('{"a": [1]}', '{"a": [1, 2]}', ("a[1]", "nothing", "2")),
        ('{"a b": 1}', '{"a b": "1"}', ('["a b"]', "1", '"1"')),
        ("[1]", "{}", ("the body", "[1]", "{}")),
        ("text a", "text b", ("byte 5 of the body", '"a"', '"b"')),
    ],
)
def test_the_first_difference_names_its_place_and_both_values(sent: str, logged: str, shown: tuple[str, ...]) -> None:
    differs = difference(sent.encode(), logged.encode())
    assert differs is not None
    assert differs[:3] == shown


def test_long_texts_are_shown_around_their_first_difference() -> None:
    sent, logged = ("x" * 500 + date + "y" * 500 for date in ("2026-11-29", "2026-11-28"))
    differs = difference(json.dumps({"a": sent}).encode(), json.dumps({"a": logged}).encode())
    assert differs is not None
    assert differs.sent.startswith('…"' + "x" * 11 + "2026-11-29y")
    assert differs.logged.startswith('…"' + "x" * 11 + "2026-11-28y")
    assert len(differs.sent) < 100


def test_equal_bodies_have_no_difference() -> None:
    assert difference(b'{"a":1}', b'{"a": 1.0}') is None
