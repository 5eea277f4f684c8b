"""If one of several relays dies, only its own requests are affected."""

import os
import signal
from pathlib import Path

from tests.support.server import Server, SimulatedProvider, is_running, wait_until
from tests.support.stream import Stream

STREAMS = 40
ATTEMPTS = 5


def test_a_worker_that_dies_interrupts_only_its_own_requests(tmp_path: Path) -> None:
    # The kernel may give all requests of an attempt to one worker. Such an attempt shows only that the log is correct.
    shown = (_kill_one_of_three(tmp_path, attempt) for attempt in range(ATTEMPTS))
    assert any(complete and interrupted for complete, interrupted in shown)


def _kill_one_of_three(tmp_path: Path, attempt: int) -> tuple[int, int]:
    """Kill one of three workers. Returns the number of complete and of interrupted streams."""
    directory = tmp_path / str(attempt)
    directory.mkdir()
    with SimulatedProvider() as provider, Server(directory, provider.url, "--workers", "3") as server:
        streams = [Stream(server, number, **{"Event-Interval-Ms": "100"}) for number in range(STREAMS)]
        workers = [event["pid"] for event in server.events("child_started") if event["role"] == "relay"]
        assert len(workers) == 3
        os.kill(workers[0], signal.SIGKILL)
        complete = [stream for stream in streams if stream.end().endswith(b"data: [DONE]\n\n") and stream.ended_cleanly]
        interrupted = [stream for stream in streams if stream not in complete]
        assert all(is_running(pid) for pid in workers[1:])
        wait_until(lambda: len([e for e in server.events("child_started") if e["role"] == "relay"]) == 4)
        for stream in complete:
            assert server.record(stream.id, 60)["outcome"] == "complete"
        for stream in interrupted:
            record = server.record(stream.id, 60)
            assert record["outcome"] == "interrupted"
            assert server.body(stream.id, "response").startswith(stream.text)
        assert len(server.records()) == STREAMS
        assert server.get("/api/status")["frames_lost"] == 0
        return len(complete), len(interrupted)
