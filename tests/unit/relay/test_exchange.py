"""Claims about an exchange that goes well, and about what it journals."""

from tests.support.sides import World

from relaybook.journal.events import decode_answered, decode_closed, decode_opened
from relaybook.journal.frame import Kind

CHUNKED = b"Transfer-Encoding: chunked"


def test_a_request_crosses_with_the_providers_host_and_path() -> None:
    world = World(b"Content-Length: 5", b"X-a: 1", b"Service-Namespace: ios").ask(b"hello")
    assert world.up.sent == (
        b"POST /api/v1/chat/completions HTTP/1.1\r\nHost: there:8000\r\nContent-Length: 5\r\nX-a: 1\r\n\r\nhello"
    )
    opened = decode_opened(world.payloads(Kind.OPENED)[0])
    assert (opened.namespace, opened.upstream) == ("ios", "http://there:8000/api/v1")


def test_chunked_stays_chunked() -> None:
    world = World(CHUNKED).ask(b"hello", b"world!")
    assert world.up.sent.endswith(b"\r\n\r\n5\r\nhello\r\n6\r\nworld!\r\n0\r\n\r\n")


def test_the_journal_has_every_frame_in_order_and_one_end() -> None:
    world = World(b"Content-Length: 5").ask(b"he", b"llo").answer(b"Content-Length: 4")
    world.exchange.answer_piece(b"an", False)
    world.exchange.answer_piece(b"sw", True)
    assert world.down.told == ["handed over"]
    world.exchange.handed_over()
    world.exchange.handed_over()
    assert world.kinds == ["OPENED", "SENT", "SENT", "ASKED", "ANSWERED", "RECEIVED", "RECEIVED", "CLOSED"]
    assert decode_closed(world.payloads(Kind.CLOSED)[0]).outcome == "complete"
    assert (world.over, world.up.told) == (1, ["reusable"])


def test_once_it_stops_logging_it_goes_on_and_nothing_more_of_it_is_journaled() -> None:
    world = World(b"Content-Length: 5").ask(b"hello").answer(b"Content-Length: 4")
    before = list(world.kinds)
    assert world.exchange.stop_logging()
    assert not world.exchange.stop_logging()
    world.exchange.answer_piece(b"answ", True)
    world.exchange.handed_over()
    assert world.down.sent.endswith(b"answ")
    assert (world.kinds, world.over) == (before, 1)


def test_what_came_in_one_read_is_one_frame_and_one_write() -> None:
    world = World(b"Content-Length: 5").begin(b"hello", complete=True)
    world.exchange.send()
    assert world.up.sent.endswith(b"\r\n\r\nhello")
    world.answer(b"Content-Length: 2", body=b"ok", complete=True)
    world.exchange.handed_over()
    assert world.kinds == ["OPENED", "ANSWERED", "CLOSED"]
    opened, answered = decode_opened(world.payloads(Kind.OPENED)[0]), decode_answered(world.payloads(Kind.ANSWERED)[0])
    assert (opened.body, opened.complete, answered.body) == (b"hello", True, b"ok")


def test_a_chunked_request_that_came_whole_is_framed_whole() -> None:
    world = World(CHUNKED).begin(b"hello", complete=True)
    world.exchange.send()
    assert world.up.sent.endswith(b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")


def test_the_caller_gets_our_headers_and_the_providers_bytes() -> None:
    world = World(b"Service-Namspace: x").ask().answer(b"Content-Length: 2", b"x-request-id: req_1")
    world.exchange.answer_piece(b"ok", True)
    head, _, body = world.down.sent.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[:3] == [b"HTTP/1.1 200 OK", b"Content-Length: 2", b"x-request-id: req_1"]
    assert lines[3] == b"Service-Request-Id: " + world.exchange.id_text.encode()
    assert lines[4] == b"Service-Namespace: default"
    assert lines[5].startswith(b"Service-Warning: unknown_header; ")
    assert body == b"ok"


def test_the_callers_own_key_is_masked_in_the_journal_and_never_on_the_wire() -> None:
    key = b"sk-very-secret"
    world = World(b"Authorization: Bearer " + key, CHUNKED).ask(b"my key is " + key).answer(CHUNKED)
    world.exchange.answer_piece(b"you said " + key, True)
    assert key in world.up.sent.partition(b"\r\n\r\n")[2]
    assert key in world.down.sent
    assert world.payloads(Kind.SENT) == [b"my key is " + b"*" * len(key)]
    assert world.payloads(Kind.RECEIVED) == [b"you said " + b"*" * len(key)]
    assert not any(key in payload for _, payload in world.gate.frames)


def test_a_word_for_a_key_is_no_secret() -> None:
    world = World(b"Authorization: Bearer none", CHUNKED).ask(b"none of it")
    assert world.payloads(Kind.SENT) == [b"none of it"]


def test_an_early_answer_ends_the_connection_and_drops_the_rest_of_the_request() -> None:
    world = World(b"Content-Length: 10")
    world.begin()
    world.exchange.request_piece(b"hello")
    world.exchange.send()
    world.answer(b"Content-Length: 0", status=b"413 Too Large", complete=True)
    world.exchange.request_piece(b"world")
    assert world.payloads(Kind.SENT) == [b"hello"]
    assert (world.up.told, world.down.keep_alive) == (["closed"], False)
    assert b"Connection: close" in world.down.sent


def test_while_the_provider_is_slow_the_caller_waits() -> None:
    world = World(b"Content-Length: 200000")
    world.begin()
    world.up.write_paused = True
    world.exchange.request_piece(b"x")
    world.exchange.send()
    assert not world.down.reading
    world.up.write_paused = False
    world.exchange.send()
    assert world.down.reading


def test_while_there_is_no_connection_64_kib_wait_and_no_more() -> None:
    world = World(b"Content-Length: 200000", connected=False)
    world.begin()
    world.exchange.request_piece(b"x" * 65000)
    world.exchange.send()
    assert world.down.reading
    world.exchange.request_piece(b"x" * 1000)
    world.exchange.send()
    assert not world.down.reading


def test_while_the_caller_is_slow_the_provider_waits() -> None:
    world = World(b"Content-Length: 0").ask().answer(CHUNKED)
    world.down.held = 70000
    world.exchange.answer_piece(b"x", False)
    assert not world.up.reading


def test_bytes_taken_back_from_a_lost_connection_go_first_and_in_order() -> None:
    world = World(CHUNKED, connected=False)
    exchange = world.exchange
    world.begin()
    exchange.pending.clear()  # as if it had been given to the connection
    exchange.pending_bytes = 0
    exchange.reclaim()
    exchange.request_piece(b"third")
    exchange.requeue(b"first ")
    exchange.requeue(b"second ")
    world.connected = True
    exchange.send()
    assert world.up.sent == b""
    exchange.lost_unused()
    assert world.up.sent == b"first second 5\r\nthird\r\n"


def test_every_frame_of_a_request_without_bodies_is_one_that_must_not_stay() -> None:
    world = World(b"Service-Log: no-bodies").ask(b"hello").answer(CHUNKED)
    world.exchange.answer_piece(b"x", True)
    assert world.sealed == len(world.kinds) == 5
    assert World().ask().sealed == 0


def test_the_rest_of_a_request_that_was_answered_early_opens_no_connection() -> None:
    world = World(b"Content-Length: 9").begin(b"he").answer(b"Content-Length: 2", body=b"no", complete=True)
    wanted: list[object] = []
    world.connect = wanted.append  # type: ignore[method-assign]
    world.exchange.request_piece(b"llo")
    world.exchange.send()
    assert wanted == []
