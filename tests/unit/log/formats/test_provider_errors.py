"""Test how the code and the message of a provider's error are read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bodies import check_storable

from relaybook.log.formats.provider_errors import describe_error, read_error


def code_and_message(data: bytes) -> tuple[str | None, str | None]:
    error = read_error(data)
    check_storable(error)
    return error.code, error.message


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            b'{"error":{"message":"Bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}',
            ("invalid_api_key", "Bad key"),
        ),
        (b'{"error":{"message":"Slow down","type":"rate_limit","code":null}}', ("rate_limit", "Slow down")),
        (b'{"error":{"message":"No","code":429}}', ("429", "No")),
        (b'{"error":"model not found"}', (None, "model not found")),
        (
            b'{"code":"Invalid argument","error":"Bad"}',
            ("Invalid argument", "Bad"),
        ),
        (b'{"error":"Too long","error_type":"validation"}', ("validation", "Too long")),
        (b'{"detail":"Not Found"}', (None, "Not Found")),
        (b'{"detail":[{"loc":["body","n"],"msg":"too big"}]}', (None, "too big")),
        (b'{"message":"no such route","code":404}', ("404", "no such route")),
        (b'{"object":"error","message":"bad","type":"BadRequestError","code":400}', ("400", "bad")),
        (b'[{"error":{"code":400,"message":"Invalid","status":"INVALID_ARGUMENT"}}]', ("400", "Invalid")),
        (b'{"error":{}}', (None, '{"error":{}}')),
        (b'{"error":{"message":{"deep":1}}}', (None, '{"deep":1}')),
        (b"upstream connect error\n  or disconnect", (None, "upstream connect error or disconnect")),
        (
            b"<!doctype html><html><head><title>502</title></head><style>x{}</style><h1>502 Bad Gateway</h1>",
            (None, "502 Bad Gateway"),
        ),
        (b"", (None, None)),
        (rb'{"error":{"message":"a\u0000b\ud800","code":"x"}}', ("x", "a\ufffdb\ufffd")),
    ],
)
def test_every_shape_is_parsed(body: bytes, expected: tuple[str | None, str | None]) -> None:
    assert code_and_message(body) == expected


def test_messages_are_truncated() -> None:
    assert len(code_and_message(b'{"error":{"message":"' + b"x" * 9000 + b'"}}')[1] or "") == 2000
    assert len(code_and_message(b"x" * 9000)[1] or "") == 200
    assert len(code_and_message(b'{"error":{"code":"' + b"x" * 9000 + b'"}}')[0] or "") == 256


@settings(deadline=None)
@given(st.binary() | st.text().map(str.encode))
def test_no_bytes_raise(body: bytes) -> None:
    for text in code_and_message(body):
        (text or "").encode()


def test_an_error_of_any_type_is_described() -> None:
    assert [describe_error(error).message for error in ([1, 2], [], True, {})] == ["1", "[]", "true", "{}"]


@pytest.mark.parametrize("chunk", [b"<", b"<script ", b"<style>", b"</head>", b"<a b='<'>"])
def test_endless_tags_do_not_hide_the_text_before_them(chunk: bytes) -> None:
    assert (code_and_message(b"<p>502 Bad Gateway</p>" + chunk * 20_000)[1] or "").startswith("502 Bad Gateway")


@pytest.mark.parametrize("chunk", [b"a", b"<a", b"< ", b"</"])
def test_an_unclosed_tag_is_scanned_once(chunk: bytes) -> None:
    # With a backtracking pattern, 100 pages of the first chunk would take ten minutes.
    page = b"<" + chunk * (65_536 // len(chunk))
    assert {code_and_message(page) for _ in range(100)} == {(None, page[:200].decode().strip())}


def test_a_body_too_large_for_json_is_read_as_text() -> None:
    assert code_and_message(b'{"error":"' + b"x" * (1 << 20) + b'"}') == (None, '{"error":"' + "x" * 190)
