"""What is sent for a logged response, when, and how the connection ends."""

from typing import Any

import pytest

from relaybook.errors import UPSTREAM_DID_RESET
from relaybook.replay.recording import Delivery, NotReplayable, Step, delivery, load, paced

HEADER = b"Service-Replay: exact"


class OneRequest:
    """A log with one request."""

    def __init__(self, body: bytes, **fields: Any) -> None:
        self.response = body
        self.detail: dict[str, Any] = {
            "outcome": "complete",
            "status": 200,
            "reason": "OK",
            "method": "POST",
            "response_headers": [("Transfer-Encoding", "chunked")],
            "response_bytes": len(body),
            "stored_response_bytes": len(body),
            "timeline": [(100.0, 2), (250.0, len(body) - 2)],
            "duration_ms": 300.0,
            "error_code": None,
            "error_message": None,
            "stream_ended": None,
        } | fields

    def find(self, text: str) -> dict[str, Any]:
        return self.detail

    def body(self, record_id: str, side: str) -> bytes:
        return self.response

    def replayable(self, *_: Any) -> Any:
        raise NotImplementedError

    def delivery(self, **options: Any) -> Delivery:
        made = {"version_1_0": False, "keep_alive": True} | options
        return delivery(load(self, "id"), self.detail["method"], HEADER, **made)


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nService-Replay: exact\r\n\r\n"


def test_each_chunk_has_its_time() -> None:
    made = OneRequest(b"abcde").delivery()
    steps = [Step(0.1, HEAD + b"2\r\nab\r\n"), Step(0.25, b"3\r\ncde\r\n"), Step(0.3, b"0\r\n\r\n")]
    assert (made.steps, made.ending) == (steps, "complete")


def test_bytes_without_a_time_come_at_the_end() -> None:
    made = OneRequest(b"abcde", timeline=[(100.0, 2)]).delivery()
    assert made.steps[1] == Step(0.3, b"3\r\ncde\r\n")


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        ({"outcome": "upstream_failed", "error_code": "upstream_stream_interrupted"}, "close"),
        ({"outcome": "upstream_failed", "error_message": f"{UPSTREAM_DID_RESET} in the middle."}, "reset"),
        ({"outcome": "interrupted", "error_code": "shutting_down"}, "close"),
        ({"outcome": "interrupted", "error_code": "log_unavailable"}, "reset"),
        ({"outcome": "client_closed"}, "hang"),
        ({"outcome": "client_closed", "error_code": "server_error"}, "hang"),
        ({"outcome": "client_closed", "stream_ended": "done"}, "complete"),
        ({"outcome": "client_closed", "error_code": "upstream_reset"}, "close"),
        ({"outcome": "client_closed", "response_headers": [("Content-Length", "5")]}, "complete"),
        ({"outcome": "upstream_failed", "response_headers": [("Content-Length", "5")]}, "complete"),
        ({"outcome": "upstream_failed", "response_headers": [("Content-Length", "9")]}, "close"),
        ({"outcome": "upstream_failed", "response_headers": []}, "reset"),
        ({"outcome": "complete", "response_headers": []}, "close"),
        ({"outcome": "complete", "status": 204, "response_headers": []}, "complete"),
    ],
)
def test_the_connection_ends_as_it_ended(fields: dict[str, Any], ending: str) -> None:
    assert OneRequest(b"abcde", **fields).delivery().ending == ending


def test_a_client_that_left_before_the_response_gets_nothing() -> None:
    made = OneRequest(b"", outcome="client_closed", status=None, timeline=[]).delivery()
    assert made == Delivery([], "hang", 0.3)


def test_head_and_http_1_0_are_framed_as_the_relay_frames_them() -> None:
    assert OneRequest(b"abcde", method="HEAD").delivery().steps == [Step(0.3, HEAD)]
    old = OneRequest(b"abcde").delivery(version_1_0=True, keep_alive=False)
    assert (b"".join(step.data for step in old.steps).endswith(b"\r\n\r\nabcde"), old.ending) == (True, "close")


@pytest.mark.parametrize("missing", [{"response_headers": None}, {"response_bytes": 70_000}, {"outcome": "open"}])
def test_a_response_that_is_not_whole_in_the_log_is_not_replayed(missing: dict[str, Any]) -> None:
    with pytest.raises(NotReplayable):
        load(OneRequest(b"abcde", **missing), "id")


@pytest.mark.parametrize(
    ("speed", "max_wait", "times"),
    [(1, 600, [1.0, 1.0, 5.0, 9.0]), (2, 600, [0.5, 0.5, 2.5, 4.5]), (0, 600, [0, 0, 0, 0]), (1, 2, [1, 1, 3, 5])],
)
def test_the_speed_divides_pauses_and_max_wait_limits_each(speed: float, max_wait: float, times: list[float]) -> None:
    made = paced(Delivery([Step(1.0, b"a"), Step(1.0, b"b"), Step(5.0, b"c")], "close", 9.0), speed, max_wait)
    assert [step.at for step in made.steps] + [made.ends_after] == times
