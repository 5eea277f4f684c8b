"""Several relays beside each other: the death of one concerns only the requests it had."""

import os
import signal
from pathlib import Path

from tests.support.server import Server, SimulatedProvider, is_running, wait_until
from tests.support.stream import Stream

STREAMS = 40
ATTEMPTS = 5


def test_a_worker_that_dies_takes_only_its_own_requests_with_it(tmp_path: Path) -> None:
    # The kernel may give all of them to one worker; then nothing is shown but that the log is right.
    shown = (_kill_one_of_three(tmp_path, attempt) for attempt in range(ATTEMPTS))
    assert any(whole and cut for whole, cut in shown)


def _kill_one_of_three(tmp_path: Path, attempt: int) -> tuple[int, int]:
    """How many streams came whole and how many were cut."""
    directory = tmp_path / str(attempt)
    directory.mkdir()
    with SimulatedProvider(directory) as provider, Server(directory, provider.url, "--workers", "3") as server:
        streams = [Stream(server, number, **{"Event-Interval-Ms": "100"}) for number in range(STREAMS)]
        workers = [event["pid"] for event in server.events("child_started") if event["role"] == "relay"]
        assert len(workers) == 3
        os.kill(workers[0], signal.SIGKILL)
        whole = [stream for stream in streams if stream.end().endswith(b"data: [DONE]\n\n") and stream.ended_cleanly]
        cut = [stream for stream in streams if stream not in whole]
        assert all(is_running(pid) for pid in workers[1:])
        wait_until(lambda: len([e for e in server.events("child_started") if e["role"] == "relay"]) == 4)
        for stream in whole:
            assert server.record(stream.id, 60)["outcome"] == "complete"
        for stream in cut:
            record = server.record(stream.id, 60)
            assert record["outcome"] == "interrupted"
            assert server.body(stream.id, "response").startswith(stream.text)
        assert len(server.records()) == STREAMS
        assert server.get("/api/status")["frames_lost"] == 0
        return len(whole), len(cut)
