"""Test which parts of request heads are forwarded, dropped and logged, and which heads are refused."""

import pytest

from relaybook.errors import RelayError
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.request_head import HeadRefused, RequestHead, RequestHeadReader, check_target, skip_empty_lines
from relaybook.tags import TagReader

FINGERPRINTS = Fingerprints(b"secret")
READER = RequestHeadReader(TagReader(["Service", "Relaybook"], "default", "full").is_tag, FINGERPRINTS)


def read(*lines: bytes, first: bytes = b"POST /v1/x HTTP/1.1") -> RequestHead:
    return READER.read(b"\r\n".join([first, *lines, b"", b""]))


def refusal(*lines: bytes, first: bytes = b"POST /v1/x HTTP/1.1") -> RelayError:
    with pytest.raises(HeadRefused) as caught:
        read(*lines, first=first)
    assert len(str(caught.value)) > 20
    return caught.value.error


def test_order_case_and_repeats_are_kept() -> None:
    lines = [b"host: a", b"X-b: 1", b"x-B: 2", b"ACCEPT:  */*", b"OpenAI-Organization: o"]
    assert read(*lines).lines == lines


@pytest.mark.parametrize(
    "line",
    [
        b"Connection: close",
        b"Keep-Alive: timeout=5",
        b"TE: trailers",
        b"Trailer: X",
        b"Upgrade: h2c",
        b"HTTP2-Settings: x",
        b"Proxy-Authorization: Basic x",
        b"Proxy-Anything: x",
        b"Cookie: a=b",
        b"Forwarded: for=1.1.1.1",
        b"X-Forwarded-For: 1.1.1.1",
        b"X-Forwarded-Proto: https",
        b"Expect: 100-continue",
        b"Service-Namespace: a",
        b"relaybook-property-x: 1",
        b"Service-Namspace: a",
    ],
)
def test_hop_by_hop_and_proxy_headers_are_not_forwarded(line: bytes) -> None:
    assert read(b"Host: a", line, b"X-After: 1").lines == [b"Host: a", b"X-After: 1"]


@pytest.mark.parametrize("lines", [(b"Expect: x", b"Expect: 100-continue"), (b"Expect: 100-continue", b"Expect: x")])
def test_a_second_expect_header_hides_no_value_that_is_refused(lines: tuple[bytes, bytes]) -> None:
    assert read(b"Host: a", *lines).expect == b"x"


@pytest.mark.parametrize(
    "lines",
    [
        (b"Upgrade: websocket",),
        (b"Upgrade: h2c", b"Upgrade: WebSocket"),
        (b"Upgrade: WebSocket", b"Upgrade: h2c"),
        (b"Upgrade: h2c, WebSocket",),
        (b"Upgrade:websocket/13 ,h2c",),
    ],
)
def test_a_websocket_is_recognized_among_other_protocols(lines: tuple[bytes, ...]) -> None:
    assert read(b"Host: a", *lines).websocket


@pytest.mark.parametrize(
    "line", [b"Upgrade: h2c", b"Upgrade: TLS/1.3, HTTP/2.0", b"Upgrade: not-websocket", b"Upgrade:"]
)
def test_an_offer_of_another_protocol_is_not_forwarded(line: bytes) -> None:
    head = read(b"Host: a", b"Connection: Upgrade", line)
    assert (head.websocket, head.lines) == (False, [b"Host: a"])


@pytest.mark.parametrize(
    "line", [b"Service-Worker: script", b"Service_Namespace: a", b"X-Request-Id: 1", b"Cookie2: x"]
)
def test_headers_with_similar_names_are_forwarded(line: bytes) -> None:
    assert line in read(b"Host: a", line).lines


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        (b"Authorization: Bearer sk-verysecret", b"sk-verysecret"),
        (b"api-key: verysecret1", b"verysecret1"),
        (b"X-Api-Key: verysecret1", b"verysecret1"),
        (b"Cookie: session=verysecret1", b"verysecret1"),
        (b"X-My-Token: verysecret1", b"verysecret1"),
        (b"x-client-secret: verysecret1", b"verysecret1"),
        (b"Proxy-Authorization: Basic verysecret1", b"verysecret1"),
    ],
)
def test_secrets_are_replaced_by_fingerprints_in_the_log(line: bytes, secret: bytes) -> None:
    head = read(b"Host: a", line)
    assert secret not in head.logged
    assert b"key:" in head.logged


def test_the_scheme_of_an_authorization_is_logged() -> None:
    shown = FINGERPRINTS.of(b"sk-verysecret").encode()
    assert read(b"Authorization: Bearer sk-verysecret").logged == b"Authorization: Bearer key:" + shown


def test_the_clients_key_is_found() -> None:
    assert read(b"Authorization: Bearer sk-verysecret").key == b"sk-verysecret"
    assert read(b"api-key: abc").key == b"abc"
    assert read(b"Host: a").key is None


KEY_FORMS = [
    ((b"Authorization: Bearer sk-verysecret1",), b"/v1/x"),
    ((b"x-api-key: sk-verysecret1",), b"/v1/x"),
    ((b"X-Goog-Api-Key: sk-verysecret1",), b"/v1/x"),
    ((b"api-key: sk-verysecret1",), b"/v1/x"),
    ((b"Ocp-Apim-Subscription-Key: sk-verysecret1",), b"/v1/x"),
    ((b"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-verysecret1, openai-beta.realtime-v1",), b"/v1/x"),
    ((), b"/v1/x?alt=sse&key=sk-verysecret1"),
    ((), b"/v1/x?api-key=sk%2Dverysecret1"),
    ((b"Authorization:",), b"/v1/x?signature=abc&version=1?key=sk-verysecret1"),
]


@pytest.mark.parametrize(("lines", "target"), KEY_FORMS)
def test_every_form_of_a_key_is_masked_and_identifies_the_client(lines: tuple[bytes, ...], target: bytes) -> None:
    head = read(b"Host: a", *lines, first=b"POST %b HTTP/1.1" % target)
    assert head.key == b"sk-verysecret1"
    assert b"sk-verysecret1" in head.keys
    assert b"verysecret" not in head.logged
    assert head.lines == [b"Host: a", *lines]


def test_the_key_of_a_subprotocol_is_replaced_by_its_fingerprint() -> None:
    line = b"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-verysecret1 , openai-beta.realtime-v1"
    shown = FINGERPRINTS.of(b"sk-verysecret1").encode()
    assert read(b"Host: a", line).logged.split(b"\r\n")[1] == (
        b"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.key:%b, openai-beta.realtime-v1" % shown
    )


@pytest.mark.parametrize(
    ("line", "target"),
    [
        (b"Sec-WebSocket-Protocol: realtime, openai-beta.realtime-v1", b"/v1/x"),
        (b"Sec-WebSocket-Protocol: openai-insecure-api-key.", b"/v1/x"),
        (b"Sec-WebSocket-Protocol:", b"/v1/x"),
        (b"Accept: */*", b"/v1/x?key=&monkey=verysecret1"),
        (b"Accept: */*", b"/v1/x?X-Amz-Signature=verysecret1&token=verysecret1"),
    ],
)
def test_other_protocols_and_parameters_do_not_identify_the_client(line: bytes, target: bytes) -> None:
    head = read(b"Host: a", line, first=b"POST %b HTTP/1.1" % target)
    assert head.key is None
    assert line in head.logged


def test_a_key_in_a_header_takes_precedence_over_a_key_in_the_query() -> None:
    head = read(b"Host: a", b"x-goog-api-key: AIza-0123456789", first=b"POST /v1/x?key=other-key-0123 HTTP/1.1")
    assert head.key == b"AIza-0123456789"
    assert set(head.keys) == {b"AIza-0123456789", b"other-key-0123"}


@pytest.mark.parametrize("line", [b"x-ratelimit-limit-tokens: 5", b"openai-key: x", b"x-used-tokens: 4"])
def test_token_counts_are_not_secrets(line: bytes) -> None:
    assert read(line).logged == line


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Content-Length: 5", b"Content-Length: 5"],
        [b"Content-Length: +5"],
        [b"Content-Length: 0x5"],
        [b"Content-Length: "],
        [b"Content-Length: 5,5"],
        [b"Transfer-Encoding: chunked, gzip"],
        [b"Transfer-Encoding: gzip, chunked"],
        [b"Transfer-Encoding: xchunked"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: identity"],
        [b"Host: a", b"Host: a"],
        [b"Host: u@h"],
        [b"Host: h/p"],
        [b"Host: h?x"],
        [b"Host: h#x"],
        [b"Host: "],
        [b"Host: a b"],
        [b"X : 1"],
        [b"X: 1\n"],
        [b"X: a\rb"],
        [b"X: a\0b"],
        [b" folded: 1"],
        [b"X: 1", b" folded"],
        [b"No-colon"],
        [b"Connection: Authorization", b"Authorization: Bearer x"],
        [b"Connection: Service-Namespace", b"Service-Namespace: x"],
    ],
)
def test_ambiguous_heads_are_refused(lines: list[bytes]) -> None:
    assert refusal(*lines) == RelayError.BAD_REQUEST


@pytest.mark.parametrize(
    ("first", "error"),
    [
        (b"GET  /v1/x HTTP/1.1", RelayError.BAD_REQUEST),
        (b"FOO /v1/x HTTP/1.1", RelayError.BAD_REQUEST),
        (b"GET /v1/x HTTP/2.0", RelayError.VERSION_NOT_SUPPORTED),
        (b"GET /v1/x", RelayError.BAD_REQUEST),
        (b"GET /v1/" + b"x" * 9000 + b" HTTP/1.1", RelayError.URI_TOO_LONG),
    ],
)
def test_malformed_request_lines_are_refused(first: bytes, error: RelayError) -> None:
    assert refusal(first=first) == error


def test_too_many_or_too_long_headers_are_refused() -> None:
    assert refusal(*[b"X-%d: 1" % number for number in range(101)]) == RelayError.HEADERS_TOO_LARGE
    assert refusal(b"X: " + b"y" * 40000) == RelayError.HEADERS_TOO_LARGE


def test_http_1_0_is_recognized_and_cannot_be_chunked() -> None:
    head = read(b"Host: a", first=b"GET /v1/x HTTP/1.0")
    assert head.version_1_0
    assert not head.keep_alive
    assert refusal(b"Transfer-Encoding: chunked", first=b"POST /v1/x HTTP/1.0") == RelayError.BAD_REQUEST


def test_a_length_is_normalized() -> None:
    assert read(b"content-length: 007").lines == [b"content-length: 7"]


def test_a_cached_spelling_is_handled_as_before() -> None:
    for _ in range(3):
        assert read(b"CoOkIe: a=b", b"X-y: 1").lines == [b"X-y: 1"]


@pytest.mark.parametrize("target", [b"/v1/models/org%2Fmodel", b"/v1/x?a=/../b", b"/v1/a.b/..c", b"/v1/%41", b"/v1//x"])
def test_valid_targets_are_accepted(target: bytes) -> None:
    check_target(target)


@pytest.mark.parametrize(
    "target",
    [b"/v1/../x", b"/v1/./x", b"/v1/%2e%2e/x", b"/v1/%2E./x", b"/v1/..%2fx", b"/v1/..%5cx", b"/v1/a\\b", b"/v1/x/.."],
)
def test_targets_with_dot_segments_are_refused(target: bytes) -> None:
    with pytest.raises(HeadRefused):
        check_target(target)


def test_a_secret_line_is_replaced_but_not_a_line_that_contains_it() -> None:
    head = read(b"Host: a", b"api-key:", b"x-api-key: sk-12345678-second", b"X-Other: api-key:")
    assert b"sk-12345678-second" not in head.logged
    assert head.logged.endswith(b"X-Other: api-key:")
    assert head.keys == [b"sk-12345678-second"]


def test_all_keys_are_found_and_the_first_one_identifies_the_client() -> None:
    head = read(b"Host: a", b"Authorization:", b"x-goog-api-key: AIza-0123456789", b"api-key: other-key-0123")
    assert head.key == b"AIza-0123456789"
    assert head.keys == [b"AIza-0123456789", b"other-key-0123"]


@pytest.mark.parametrize("before", [b"\n", b"\r", b"\r\n\n"])
def test_bytes_before_the_method_are_refused(before: bytes) -> None:
    assert refusal(b"Host: a", first=before + b"TRACE /v1/x HTTP/1.1") == RelayError.BAD_REQUEST


@pytest.mark.parametrize("version", [b"RTSP/1.0", b"ICE/1.0"])
def test_other_protocols_are_refused(version: bytes) -> None:
    assert refusal(b"Host: a", first=b"POST /v1/x " + version) == RelayError.BAD_REQUEST


@pytest.mark.parametrize("version", [b"1.2", b"2.0", b"3.0"])
def test_unsupported_versions_get_their_own_error(version: bytes) -> None:
    assert refusal(b"Host: a", first=b"POST /v1/x HTTP/" + version) == RelayError.VERSION_NOT_SUPPORTED


def test_a_length_with_too_many_digits_is_refused() -> None:
    assert refusal(b"Host: a", b"Content-Length: " + b"0" * 5000) == RelayError.BAD_REQUEST


def test_empty_lines_before_a_request_are_skipped_in_one_step() -> None:
    assert skip_empty_lines(b"\r\n" * 30_000 + b"POST") == b"POST"
    assert skip_empty_lines(b"\nPOST") == b"\nPOST"


def test_thousands_of_connection_options_are_handled_quickly() -> None:
    options = b",".join(b"%x" % number for number in range(5000))
    lines = [b"X-%d: 1" % number for number in range(90)]
    assert read(b"Connection: close, " + options, *lines).keep_alive is False
    assert refusal(*lines, b"Connection: " + options[:20_000] + b", x-7") == RelayError.BAD_REQUEST
