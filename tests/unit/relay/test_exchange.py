"""Test which bytes exchanges forward and journal, and how exchanges end. The tests use no sockets."""

import json
from urllib.parse import quote

import pytest
from tests.support.fake_peers import World

from relaybook.errors import RelayError
from relaybook.journal.events import Closed, decode_closed, decode_opened, decode_response_begin
from relaybook.journal.frame import MAX_PAYLOAD, FrameKind

CHUNKED = b"Transfer-Encoding: chunked"
STREAM = (b"Transfer-Encoding: chunked", b"Content-Type: text/event-stream")


def test_a_request_is_forwarded_with_the_upstreams_host_and_path() -> None:
    world = World(b"Content-Length: 5", b"X-a: 1", b"Service-Namespace: ios").request(b"hello")
    assert world.upstream.sent == (
        b"POST /api/v1/chat/completions HTTP/1.1\r\nHost: there:8000\r\nContent-Length: 5\r\nX-a: 1\r\n\r\nhello"
    )
    opened = decode_opened(world.payloads(FrameKind.OPENED)[0])
    assert (opened.namespace, opened.upstream) == ("ios", "http://there:8000/api/v1")


def test_chunked_stays_chunked() -> None:
    world = World(CHUNKED).request(b"hello", b"world!")
    assert world.upstream.sent.endswith(b"\r\n\r\n5\r\nhello\r\n6\r\nworld!\r\n0\r\n\r\n")


def test_the_journal_has_all_frames_in_order_and_one_end() -> None:
    world = World(b"Content-Length: 5").request(b"he", b"llo").respond(b"Content-Length: 4")
    world.exchange.response_chunk(b"an", False)
    world.exchange.response_chunk(b"sw", True)
    assert world.client.calls == ["handed over"]
    world.exchange.response_sent()
    world.exchange.response_sent()
    assert world.kinds == ["OPENED", "SENT", "SENT", "REQUEST_END", "RESPONSE_BEGIN", "RECEIVED", "RECEIVED", "CLOSED"]
    assert decode_closed(world.payloads(FrameKind.CLOSED)[0]).outcome == "complete"
    assert (world.over, world.upstream.calls) == (1, ["reusable"])


def test_after_stop_logging_the_exchange_continues_without_journal_frames() -> None:
    world = World(b"Content-Length: 5").request(b"hello").respond(b"Content-Length: 4")
    before = list(world.kinds)
    assert world.exchange.stop_logging()
    assert not world.exchange.stop_logging()
    world.exchange.response_chunk(b"answ", True)
    world.exchange.response_sent()
    assert world.client.sent.endswith(b"answ")
    assert (world.kinds, world.over) == (before, 1)


def test_a_response_without_record_has_a_warning_and_no_link_to_the_log() -> None:
    world = World()
    world.log_url = lambda record_id: "https://relaybook.example/requests/1"  # type: ignore[method-assign]
    world.exchange.forward_without_record("The disk is full.")
    world.request()
    world.exchange.fail(RelayError.UPSTREAM_UNREACHABLE, "no")
    assert b"\r\nService-Warning: not_logged; The disk is full.\r\n" in world.client.sent
    assert b"log_url" not in world.client.sent
    assert world.kinds == []


def test_one_read_is_one_frame_and_one_write() -> None:
    world = World(b"Content-Length: 5").begin(b"hello", complete=True)
    world.exchange.send()
    assert world.upstream.sent.endswith(b"\r\n\r\nhello")
    world.respond(b"Content-Length: 2", body=b"ok", complete=True)
    world.exchange.response_sent()
    assert world.kinds == ["OPENED", "RESPONSE_BEGIN", "CLOSED"]
    opened, begin = (
        decode_opened(world.payloads(FrameKind.OPENED)[0]),
        decode_response_begin(world.payloads(FrameKind.RESPONSE_BEGIN)[0]),
    )
    assert (opened.body, opened.complete, begin.body) == (b"hello", True, b"ok")


def test_a_chunked_request_received_in_one_read_is_sent_complete() -> None:
    world = World(CHUNKED).begin(b"hello", complete=True)
    world.exchange.send()
    assert world.upstream.sent.endswith(b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")


def test_the_client_gets_the_relays_headers_and_the_upstreams_bytes() -> None:
    world = World(b"Service-Namspace: x").request().respond(b"Content-Length: 2", b"x-request-id: req_1")
    world.exchange.response_chunk(b"ok", True)
    head, _, body = world.client.sent.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[:3] == [b"HTTP/1.1 200 OK", b"Content-Length: 2", b"x-request-id: req_1"]
    assert lines[3] == b"Service-Request-Id: " + world.exchange.id_text.encode()
    assert lines[4:6] == [b"Service-Namespace: default", b"Service-Route: default"]
    assert lines[6].startswith(b"Service-Warning: unknown_header; ")
    assert body == b"ok"


def test_the_clients_key_is_masked_in_the_journal_but_not_in_forwarded_bytes() -> None:
    key = b"sk-very-secret-1"
    world = World(b"Authorization: Bearer " + key, CHUNKED).request(b"my key is " + key).respond(CHUNKED)
    world.exchange.response_chunk(b"you said " + key, True)
    assert key in world.upstream.sent.partition(b"\r\n\r\n")[2]
    assert key in world.client.sent
    assert world.payloads(FrameKind.SENT) == [b"my key is " + b"*" * len(key)]
    assert world.payloads(FrameKind.RECEIVED) == [b"you said " + b"*" * len(key)]
    assert not any(key in payload for _, payload in world.gate.frames)


def test_the_clients_key_is_masked_in_all_headers_of_the_journal() -> None:
    """A server that redirects from http to https repeats the query, and the key in it, in Location."""
    key = b"sk-very-secret"
    world = World(b"X-Api-Key: " + key, b"Referer: http://here/?k=" + key).request()
    world.respond(b"Location: https://there/?key=" + key, b"Content-Length: 0", status=b"301 Moved", complete=True)
    assert b"Referer: http://here/?k=" + key in world.upstream.sent
    assert b"Location: https://there/?key=" + key in world.client.sent
    assert not any(key in payload for _, payload in world.gate.frames)


@pytest.mark.parametrize(
    "key",
    [
        *(b"anything", b"lmstudio", b"not-needed-here", b"sk-no-key-required", b"ollama", b"dummy-key", b"EMPTY"),
        *(b"no-api-key-is-needed-for-this-server", b"1234567890123456", b"0000-0000-0000-0000", b"sk-1234567890ab"),
        *(b"none", b"completions", b"user"),
    ],
)
def test_a_key_that_cannot_be_a_secret_is_masked_in_headers_and_query_only(key: bytes) -> None:
    """Clients send such words if the upstream needs no key. They are also words in prompts and paths."""
    world = World(b"Authorization: Bearer " + key, CHUNKED, target=b"/v1/%b?key=%b" % (key, key))
    world.begin(b"Tell me " + key)
    world.exchange.request_chunk(key)
    world.exchange.request_end()
    world.respond(CHUNKED, b"X-Key: " + key, status=b"200 " + key, body=b"You said " + key)
    world.exchange.response_chunk(key, True)
    opened, begin = decode_opened(world.payloads(FrameKind.OPENED)[0]), world.payloads(FrameKind.RESPONSE_BEGIN)[0]
    assert opened.target.partition(b"?")[0] == b"/v1/" + key
    assert key not in opened.target.partition(b"?")[2]
    assert b"Bearer " + key not in opened.head
    assert opened.body == b"Tell me " + key
    assert world.payloads(FrameKind.SENT) == [key]
    assert decode_response_begin(begin).reason == key
    assert b"X-Key: " + key not in decode_response_begin(begin).head
    assert decode_response_begin(begin).body == b"You said " + key
    assert world.payloads(FrameKind.RECEIVED) == [key]


@pytest.mark.parametrize(
    "key",
    [
        *(b"sk-proj-0f1e2d3c4b5a6978", b"abcdefghijklmno1", b"A000000000000000", b"dXNlcjpwYXNzd29yZDE="),
        *(b"0190c8b0-7c4e-7d6f-8a9b-c0d1e2f3a4b5", "schlüssel-鍵-12345".encode()),
    ],
)
def test_a_key_that_can_be_a_secret_is_masked_everywhere(key: bytes) -> None:
    world = World(b"X-Api-Key: " + key, CHUNKED, target=b"/v1/x?id=%b" % quote(key).encode())
    world.begin(b"My key is " + key)
    world.exchange.request_chunk(key)
    world.exchange.request_end()
    world.respond(CHUNKED, b"X-Echo: " + key, status=b"401 No key " + key, body=b"You said " + key)
    world.exchange.response_chunk(key, True)
    assert not any(key in payload for _, payload in world.gate.frames)


def test_a_secret_key_is_masked_in_the_path_and_a_word_is_not() -> None:
    word, secret = b"lmstudio", b"sk-0123456789abcdef"
    target = b"/v1/keys/%b/%b?note=%b" % (secret, word, word)
    world = World(b"api-key: " + word, b"Authorization: Bearer " + secret, target=target).begin()
    opened = decode_opened(world.payloads(FrameKind.OPENED)[0])
    assert opened.target == b"/v1/keys/%b/%b?note=********" % (b"*" * len(secret), word)


def test_a_key_that_begins_with_another_key_is_masked_as_a_whole() -> None:
    short, long = b"sk-secret-0123456", b"sk-secret-0123456-and-more"
    world = World(b"api-key: " + short, b"Authorization: Bearer " + long, CHUNKED).request(b"my key is " + long)
    assert world.payloads(FrameKind.SENT) == [b"my key is " + b"*" * len(long)]


def test_the_time_of_the_relay_is_unknown_if_the_end_of_the_request_was_not_sent() -> None:
    world = World(CHUNKED).begin()
    world.exchange.request_chunk(b"first")
    world.exchange.send()
    world.exchange.sent_ns, world.exchange.request_end_ns = 5, 7
    world.exchange.client_gone()
    assert decode_closed(world.payloads(FrameKind.CLOSED)[0]).relay_ns is None


def test_an_early_response_ends_the_connection_and_drops_the_rest_of_the_request() -> None:
    world = World(b"Content-Length: 10")
    world.begin()
    world.exchange.request_chunk(b"hello")
    world.exchange.send()
    world.respond(b"Content-Length: 0", status=b"413 Too Large", complete=True)
    world.exchange.request_chunk(b"world")
    assert world.payloads(FrameKind.SENT) == [b"hello"]
    assert (world.upstream.calls, world.client.keep_alive) == (["closed"], False)
    assert b"Connection: close" in world.client.sent


def test_reading_from_the_client_pauses_while_the_upstream_is_slow() -> None:
    world = World(b"Content-Length: 200000")
    world.begin()
    world.upstream.write_paused = True
    world.exchange.request_chunk(b"x")
    world.exchange.send()
    assert not world.client.reading
    world.upstream.write_paused = False
    world.exchange.send()
    assert world.client.reading


def test_without_a_connection_at_most_64_kib_are_buffered() -> None:
    world = World(b"Content-Length: 200000", connected=False)
    world.begin()
    world.exchange.request_chunk(b"x" * 65000)
    world.exchange.send()
    assert world.client.reading
    world.exchange.request_chunk(b"x" * 1000)
    world.exchange.send()
    assert not world.client.reading


def test_reading_from_the_upstream_pauses_while_the_client_is_slow() -> None:
    world = World(b"Content-Length: 0").request().respond(CHUNKED)
    world.client.queued_bytes = 70000
    world.exchange.response_chunk(b"x", False)
    assert not world.upstream.reading


def test_a_request_whose_pooled_connection_was_lost_is_sent_again_in_order() -> None:
    world = World(CHUNKED)
    exchange = world.exchange
    world.begin()
    exchange.send()
    head, world.upstream.sent = world.upstream.sent, b""
    exchange.request_chunk(b"third")
    exchange.reconnect([head, b"second "])
    exchange.send()
    assert (world.upstream.sent, len(world.dials)) == (b"", 1)
    exchange.connected(world.upstream)
    assert world.upstream.sent == head + b"second 5\r\nthird\r\n"


def test_all_frames_of_a_no_bodies_request_are_private() -> None:
    world = World(b"Service-Log: no-bodies").request(b"hello").respond(CHUNKED)
    world.exchange.response_chunk(b"x", True)
    assert world.sealed == len(world.kinds) == 5
    assert World().request().sealed == 0


def test_the_rest_of_a_request_after_an_early_response_opens_no_connection() -> None:
    world = World(b"Content-Length: 9").begin(b"he").respond(b"Content-Length: 2", body=b"no", complete=True)
    wanted: list[object] = []
    world.connect = wanted.append  # type: ignore[method-assign]
    world.exchange.request_chunk(b"llo")
    world.exchange.send()
    assert wanted == []


# -- incomplete exchanges ------------------------------------------------------------------------------------------


def closed(world: World) -> Closed:
    (payload,) = world.payloads(FrameKind.CLOSED)
    return decode_closed(payload)


def broken(world: World) -> None:
    world.exchange.fail(RelayError.UPSTREAM_RESET, "It broke off.")


def test_before_the_response_head_the_client_gets_an_error_response() -> None:
    world = World(b"Content-Length: 0").request()
    broken(world)
    head, _, body = world.client.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"Service-Error: upstream_reset" in head
    assert b"Service-Request-Id: " + world.exchange.id_text.encode() in head
    assert b"x-request-id: " + world.exchange.id_text.encode() in head
    assert json.loads(body)["error"]["message"] == "It broke off."
    assert world.payloads(FrameKind.MADE) == [body]
    end = closed(world)
    assert (end.outcome, end.error_code, end.error_message) == ("upstream_failed", "upstream_reset", "It broke off.")
    assert (world.upstream.calls, world.client.keep_alive) == (["aborted"], True)


def test_the_error_response_to_a_head_request_has_no_body_in_the_journal_either() -> None:
    world = World(b"Content-Length: 0", method=b"HEAD").request()
    broken(world)
    assert world.client.sent.startswith(b"HTTP/1.1 502 ")
    assert world.client.sent.endswith(b"\r\n\r\n")
    assert world.payloads(FrameKind.MADE) == []


@pytest.mark.parametrize("end", ["fail", "interrupt", "refuse"])
@pytest.mark.parametrize("chunk", [b"data: 1\n\n", b"data: 1\n"])
@pytest.mark.parametrize("lines", [STREAM, (b"Transfer-Encoding: chunked",), (b"Content-Length: 99",), ()])
def test_a_broken_response_is_only_cut(lines: tuple[bytes, ...], chunk: bytes, end: str) -> None:
    world = World().request().respond(*lines)
    world.exchange.response_chunk(chunk, False)
    before = world.client.sent
    match end:
        case "fail":
            broken(world)
        case "interrupt":
            world.exchange.interrupt()
        case "refuse":
            world.exchange.refuse(RelayError.REQUEST_TIMEOUT, "Too slow.")
    assert (world.client.sent, world.client.calls, world.client.keep_alive) == (before, ["cut"], False)
    assert world.payloads(FrameKind.MADE) == []


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (STREAM, "upstream_stream_interrupted"),
        ((b"Content-Type: text/event-stream", b"Content-Encoding: gzip"), "upstream_stream_interrupted"),
        ((b"Content-Type: application/json",), "upstream_reset"),
    ],
)
def test_the_error_code_says_whether_an_event_stream_broke(lines: tuple[bytes, ...], code: str) -> None:
    world = World().request().respond(*lines)
    broken(world)
    assert (closed(world).outcome, closed(world).error_code) == ("upstream_failed", code)


def test_a_lost_client_connection_closes_the_upstream_connection() -> None:
    world = World().request().respond(*STREAM)
    world.exchange.client_gone()
    assert world.upstream.calls == ["aborted"]
    assert closed(world).outcome == "client_closed"


def test_with_on_client_gone_finish_the_response_is_read_to_its_end() -> None:
    world = World(on_client_gone="finish").request().respond(*STREAM)
    world.exchange.client_gone()
    world.exchange.response_chunk(b"data: 1\n\n", True)
    assert (world.upstream.calls, closed(world).outcome) == (["reusable"], "client_closed")
    assert world.payloads(FrameKind.RECEIVED) == [b"data: 1\n\n"]
    assert closed(world).client_missed


def test_a_client_that_disconnects_before_the_last_chunk_got_every_byte_of_the_body() -> None:
    world = World(on_client_gone="finish").request().respond(*STREAM, body=b"data: 1\n\n")
    world.exchange.client_gone()
    world.exchange.response_chunk(b"", True)
    assert (closed(world).outcome, closed(world).client_missed) == ("client_closed", False)


def test_a_client_that_disconnects_while_bytes_wait_for_the_kernel_missed_the_end() -> None:
    world = World().request().respond(*STREAM, body=b"data: [DONE]\n\n")
    world.client.write_paused = True
    world.exchange.client_gone()
    assert (closed(world).outcome, closed(world).client_missed) == ("client_closed", True)


def test_a_request_that_waits_for_a_connection_is_not_sent_after_its_client_is_gone() -> None:
    world = World(on_client_gone="finish", connected=False).request()
    world.exchange.client_gone()
    assert (world.dials[0].canceled, closed(world).outcome) == (True, "client_closed")


def test_a_request_over_a_limit_gets_an_error_and_the_connection_closes() -> None:
    world = World(b"Content-Length: 9")
    world.begin()
    world.exchange.send()
    world.exchange.refuse(RelayError.REQUEST_TOO_LARGE, "Too large.")
    assert world.client.sent.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in world.client.sent
    assert (closed(world).outcome, world.client.keep_alive) == ("refused", False)


@pytest.mark.parametrize(("begun", "calls"), [(False, ["handed over"]), (True, ["cut"])])
def test_on_shutdown_both_connections_are_ended(begun: bool, calls: list[str]) -> None:
    world = World().request()
    if begun:
        world.respond(*STREAM)
    world.exchange.interrupt()
    assert (world.client.calls, world.upstream.calls, closed(world).outcome) == (calls, ["aborted"], "interrupted")


def test_on_shutdown_a_response_that_waits_for_the_client_is_cut() -> None:
    world = World().request().respond(b"Content-Length: 2")
    world.exchange.response_chunk(b"ok", True)
    sent = world.client.sent
    world.exchange.interrupt()
    assert (world.client.sent, world.client.calls) == (sent, ["handed over", "cut"])


def test_when_the_journal_fails_nothing_more_is_sent() -> None:
    world = World().request().respond(*STREAM)
    sent = world.client.sent
    world.exchange.abandon()
    assert (world.client.sent, world.client.calls, world.upstream.calls) == (sent, ["abandoned"], ["aborted"])


def test_an_exchange_ends_once() -> None:
    world = World().request()
    broken(world)
    before = list(world.gate.frames)
    broken(world)
    world.exchange.refuse(RelayError.BAD_REQUEST, "x")
    world.exchange.interrupt()
    world.exchange.client_gone()
    assert (world.gate.frames, world.over) == (before, 1)


@pytest.mark.parametrize(("path", "is_text"), [(b"/v1/api/chat", True), (b"/v1/chat/completions", False)])
def test_clients_of_ollama_get_the_error_of_the_relay_as_a_text(path: bytes, is_text: bool) -> None:
    world = World(target=path, connected=False).request()
    world.exchange.dial_failed("Nobody is there.")
    error = json.loads(world.client.sent.partition(b"\r\n\r\n")[2])["error"]
    assert error == "Nobody is there." if is_text else error["message"] == "Nobody is there."


def test_a_request_that_does_not_fit_into_one_frame_has_several() -> None:
    """A reader would skip a frame that is too large, so that the request would have no record."""
    body = b"x" * MAX_PAYLOAD
    world = World(b"Content-Length: %d" % len(body)).begin(body, complete=True)
    assert world.kinds == ["OPENED", "SENT", "REQUEST_END"]
    opened = decode_opened(world.payloads(FrameKind.OPENED)[0])
    assert (opened.body, opened.complete, world.payloads(FrameKind.SENT)) == (b"", False, [body])
    assert all(len(payload) <= MAX_PAYLOAD for _, payload in world.gate.frames)
