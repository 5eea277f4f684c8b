"""Test the facts that are extracted from requests."""

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.kinds import Kind
from relaybook.log.formats import read_request
from relaybook.log.formats.facts import RequestFacts

KINDS: tuple[Kind, ...] = get_args(Kind)
BODY: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi\n there"}],
    "stream": True,
    "temperature": 0.2,
    "top_p": 1,
    "max_tokens": 10,
    "n": 2,
    "user": "u1",
    "safety_identifier": "s1",
    "prompt_cache_key": "p1",
    "metadata": {"user_id": "7", "deep": {"a": [1, None]}, "count": 3},
}


def read(body: Any, kind: Kind = "chat") -> RequestFacts:
    return read_request(kind, json.dumps(body).encode())


def shown(content: Any) -> str | None:
    return read({"messages": [{"role": "user", "content": content}]}).input_preview


def test_all_facts_of_a_chat_request_are_extracted() -> None:
    facts = read(BODY)
    assert facts.message_hashes is not None
    assert facts == RequestFacts(
        model="gpt-4.1",
        stream_requested=True,
        user="u1",
        safety_identifier="s1",
        prompt_cache_key="p1",
        metadata={"user_id": "7", "deep": '{"a":[1,null]}', "count": "3"},
        input_preview="Hi there",
        temperature=0.2,
        top_p=1.0,
        max_tokens=10,
        n=2,
        message_hashes=facts.message_hashes,
        understood=True,
    )


@pytest.mark.parametrize("wrong", [5, [[]], {"a": 1}, True, "text", None, -1.5])
@pytest.mark.parametrize("field", sorted(BODY))
def test_a_field_of_the_wrong_type_affects_only_that_field(field: str, wrong: Any) -> None:
    good, facts = read(BODY), read(BODY | {field: wrong})
    names = {"messages": "input_preview", "stream": "stream_requested"}
    changed = names.get(field, field)
    for name in RequestFacts.__struct_fields__:
        if name != changed and not (field == "messages" and name == "message_hashes"):
            assert getattr(facts, name) == getattr(good, name)


def test_invalid_content_affects_only_the_preview_of_that_message() -> None:
    facts = read(BODY | {"messages": [*BODY["messages"], {"role": "user", "content": 5}]})
    assert (facts.input_preview, facts.model) == ("Hi there", "gpt-4.1")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("  a \t b ", "a b"),
        (None, None),
        ("", None),
        (
            [{"type": "text", "text": "What is"}, {"type": "image_url", "image_url": {"url": "data:"}}],
            "What is [image]",
        ),
        ([{"type": "input_audio", "input_audio": {}}, {"type": "file", "file": {}}], "[audio] [file]"),
        ([{"type": "hologram"}], "[hologram]"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ("x" * 500, "x" * 200),
        ([{"type": "text", "text": "y" * 150}] * 3, "y" * 150 + " " + "y" * 49),
    ],
)
def test_content_is_shown_as_200_characters_of_text(content: Any, expected: str | None) -> None:
    assert shown(content) == expected


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (["user", "assistant", "tool"], "0 user"),
        (["user", "user", "assistant"], "1 user"),
        (["system", "developer"], "1 developer"),
        ([], None),
    ],
)
def test_the_last_user_message_is_shown_else_the_last_message(roles: list[str], expected: str | None) -> None:
    messages = [{"role": role, "content": f"{at} {role}"} for at, role in enumerate(roles)]
    assert read({"messages": messages}).input_preview == expected


def test_every_name_of_the_token_limit_is_read() -> None:
    assert read({"max_completion_tokens": 5, "max_tokens": 9}).max_tokens == 5
    assert read({"max_output_tokens": 7}, "response").max_tokens == 7


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("completion", {"prompt": "Once upon"}, "Once upon"),
        ("completion", {"prompt": ["a", "b"]}, "[2 texts] a"),
        ("embedding", {"input": ["first", "second"]}, "[2 texts] first"),
        ("embedding", {"input": [1, 2, 3]}, None),
        ("embedding", {"input": [[1, 2], [3]]}, None),
        ("response", {"input": "Hi"}, "Hi"),
        ("response", {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]}, "Hi"),
        ("response", {"input": [{"type": "function_call_output", "output": "3"}]}, None),
    ],
)
def test_other_kinds_show_their_input(kind: Kind, body: Any, expected: str | None) -> None:
    assert read(body, kind).input_preview == expected


@pytest.mark.parametrize("kind", ["models", "other"])
def test_unsupported_kinds_are_not_parsed(kind: Kind) -> None:
    assert read(BODY, kind) == RequestFacts()


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'"x"', b"5", b"--boundary\r\n", b"{", b"[" * 100_000])
def test_a_body_that_is_not_an_object_is_not_understood(data: bytes) -> None:
    assert read_request("chat", data) == RequestFacts()


def test_the_last_of_duplicate_keys_is_used() -> None:
    assert read_request("chat", b'{"stream":false,"model":"a","stream":true,"model":"b"}').stream_requested is True


@pytest.mark.parametrize(
    "poison",
    [rb'"\ud800"', b'"\xff"', b"NaN", b"9" * 5000, b"1e999", b'"x\x00"', rb'"\u0000"', b"[" * 900 + b"]" * 900],
)
def test_malformed_values_elsewhere_do_not_lose_the_model(poison: bytes) -> None:
    facts = read_request("chat", b'{"x":' + poison + b',"user":' + poison + b',"model":"m"}')
    assert facts.model == "m"
    msgspec.json.encode(facts)


@pytest.mark.parametrize("number", [2**63, -(2**64), 10**4000])
def test_numbers_over_64_bits_are_unknown(number: int) -> None:
    assert read({"n": number, "max_tokens": number}) == RequestFacts(understood=True)


def test_facts_are_truncated_and_cleaned() -> None:
    facts = read({"model": "m" * 999, "user": "a\0\ud800" * 200, "metadata": {"k\0": "v\0" * 500}})
    assert facts.model == "m" * 256
    assert facts.user is not None
    assert len(facts.user) == 256
    assert facts.user.startswith("a\ufffd\ufffd")
    assert facts.metadata == {"k\ufffd": "v\ufffd" * 500}


@settings(deadline=None)
@given(st.binary(), st.sampled_from(KINDS))
def test_no_bytes_raise(data: bytes, kind: Kind) -> None:
    msgspec.json.encode(read_request(kind, data))
