"""If a byte of the journal changes on disk, only the frame with this byte is lost, and the log shows the loss."""

import os
import signal
from pathlib import Path
from typing import Final

from tests.support.raw_http import send_request
from tests.support.server import Server, SimulatedProvider, wait_until

REQUESTS: Final = 20


def send(server: Server, number: int) -> str:
    """Send a request with a unique head, and therefore a unique first frame. Returns the request's id."""
    response = send_request(server.port, b"X-Number: question-%03d" % number)
    assert response.status == 200
    return dict(response.headers)["service-request-id"]


def test_refused_requests_are_counted_while_new_requests_cannot_be_logged(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, "--min-free", "1000TiB") as server:
        response = send_request(server.port)
        assert (response.status, b"Free some disk space" in response.body) == (503, True)
        wait_until(lambda: server.get("/api/status")["refused"] == {"log_unavailable": 1}, 30, "the count")


def test_a_damaged_frame_is_counted_and_shown_as_a_gap_and_everything_else_is_recorded(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        server.record(send(server, 999))
        recorder = server.pid_of("recorder")
        os.kill(recorder, signal.SIGSTOP)
        try:
            ids = [send(server, number) for number in range(REQUESTS)]
            (segment,) = [
                path for path in server.data.glob("journal/*/*.segment") if b"question-007" in path.read_bytes()
            ]
            with segment.open("r+b") as file:
                file.seek(segment.read_bytes().index(b"question-007"))
                file.write(b"Question")
        finally:
            os.kill(recorder, signal.SIGCONT)
        for request_id in ids[:7] + ids[8:]:
            assert server.record(request_id, 60)["outcome"] == "complete"
        wait_until(lambda: server.get("/api/status")["gaps"], 60, "a gap")
        assert ids[7] not in {record["id"] for record in server.records()}
        status = server.get("/api/status")
        assert status["frames_lost"] == 1
        assert [(gap["reason"], gap["count"]) for gap in status["gaps"]] == [("damaged", 1)]
