"""The demo: sample traffic of every kind in the log, one's own requests on top, and an end as soon as one wants it."""

import itertools
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import openai
import pytest
from tests.support.server import Program, Server, wait_until

LABELS: Final = ["production", "staging", "development", "iOS", "Android", "web", "default"]
ID_LIKE: Final = re.compile(r"@|\d{3}|[0-9a-f]{8}")
#: Machines under load take long to start six processes.
PATIENCE: Final = 120.0


def arguments(directory: Path) -> list[str]:
    """Python's arguments for ``relaybook demo`` on free ports."""
    flags = ["--data", str(directory / "data"), "--min-free", str(1 << 20)]
    return ["-m", "relaybook.cli.main", "demo", *flags, "--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]


class Demo(Server):
    """``relaybook demo`` on free ports."""

    def __init__(self, directory: Path, *flags: str, **variables: str) -> None:
        self.data = directory / "data" / "demo"
        Program.__init__(self, [*arguments(directory), *flags], directory, "demo", {**os.environ, **variables})
        try:
            self.base_url = self.printed(r"base URL\s+(\S+)", PATIENCE)
            self.dashboard = self.printed(r"dashboard\s+(\S+)")
        except BaseException:
            self.kill()
            raise

    def get(self, path: str) -> Any:
        """Asks again while its processes are still starting."""

        def look() -> list[Any] | None:
            try:
                return [Server.get(self, path)]
            except TimeoutError:
                return None

        return wait_until(look, PATIENCE, path)[0]

    def running(self) -> list[dict[str, Any]]:
        """What is running now."""
        found: list[dict[str, Any]] = self.get("/api/requests?limit=1")["running"]
        return found

    def wait_for(self, query: str, count: int = 1) -> list[dict[str, Any]]:
        """The records of a query, once there are so many."""
        return wait_until(lambda: rows if len(rows := self.records(query)) >= count else None, PATIENCE, query)

    def troubles(self) -> list[str]:
        """Lines on standard error that are more than information."""
        return [line for line in self.stderr.splitlines() if '"level": "info"' not in line]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A demo whose user has settings of their own for the SDK, and a proxy."""
    variables = {"OPENAI_ORG_ID": "org-of-the-reader", "OPENAI_LOG": "debug", "HTTP_PROXY": "http://127.0.0.1:1"}
    with Demo(tmp_path_factory.mktemp("demo"), **variables) as running:
        yield running
    assert running.process.returncode == 0
    assert running.troubles() == []


def test_the_dashboard_is_named_first(demo: Demo) -> None:
    lines = demo.stdout.splitlines()
    assert lines[0].startswith("Relaybook ")
    assert lines[1].startswith("dashboard  http://127.0.0.1:")
    assert "sample data" in demo.stdout


def test_namespaces_appear_in_the_order_of_the_labels(demo: Demo) -> None:
    demo.wait_for("namespace=default")
    seen = [record["namespace"] for record in reversed(demo.records())]
    assert list(dict.fromkeys(seen))[: len(LABELS)] == LABELS


@pytest.mark.parametrize(
    "query",
    [
        "outcome=complete",
        "outcome=client_closed",
        "outcome=upstream_failed",
        "status=429&failed=true",
        "status=401",
        "status=404",
        "finish_reason=tool_calls",
        "finish_reason=length",
        "kind=response",
        "kind=embedding",
        "model=o4-mini",
        "property.channel=iOS",
        "property.feature=checkout",
        "advice=temperature_and_top_p",
    ],
)
def test_the_log_shows(demo: Demo, query: str) -> None:
    assert demo.wait_for(query)


def test_three_people_at_least_have_threads_of_their_own(demo: Demo) -> None:
    def threads() -> set[str]:
        return {record["namespace"] for record in demo.records() if ID_LIKE.search(record["namespace"])}

    assert wait_until(lambda: threads() if len(threads()) >= 3 else None, PATIENCE, "three threads")


def test_a_person_goes_on_with_what_was_said(demo: Demo) -> None:
    rows = demo.wait_for("namespace=user-8f3a41c9&outcome=complete", 3)
    turns = [demo.record(row["id"]) for row in sorted(rows, key=lambda row: row["started_at"])]
    for before, after in itertools.pairwise(turns[:3]):
        texts = [message["text"] for message in after["messages"]]
        assert texts[:-2] == [message["text"] for message in before["messages"]]
        assert texts[-2] == before["answer"]["choices"][0]["text"]


def test_some_answers_are_streams_and_some_are_not(demo: Demo) -> None:
    demo.wait_for("namespace=user-8f3a41c9&outcome=complete", 3)
    assert {record["stream"] for record in demo.records("outcome=complete&kind=chat")} == {True, False}


def test_a_retry_of_the_sdk_succeeds(demo: Demo) -> None:
    def retried() -> list[dict[str, Any]]:
        return [record for record in demo.records("status=200") if record["retry_count"]]

    assert wait_until(retried, PATIENCE, "a retry")[0]["outcome"] == "complete"


def test_a_long_answer_is_running(demo: Demo) -> None:
    def long() -> list[dict[str, Any]]:
        return [record for record in demo.running() if record["output_preview"]]

    assert wait_until(long, PATIENCE, "a running answer")


def test_ones_own_request_is_on_top_and_is_answered_to_the_point(demo: Demo) -> None:
    with openai.OpenAI(base_url=demo.base_url, api_key="any", max_retries=0) as client:
        answer = client.chat.completions.with_raw_response.create(
            model="gpt-4o-mini",
            messages=[{"role": "user", "content": "A haiku about tea?"}],
            extra_headers={"Service-Namespace": "my-app"},
        )
    assert "Steam above the cup" in (answer.parse().choices[0].message.content or "")
    (mine,) = demo.wait_for("namespace=my-app")
    assert mine["id"] == answer.headers["Service-Request-Id"]


def test_sample_traffic_takes_no_settings_from_the_environment(demo: Demo) -> None:
    (first, *_) = demo.wait_for("namespace=production")
    names = {name.lower() for name, _ in demo.record(first["id"])["request_headers"]}
    assert "x-stainless-lang" in names
    assert "openai-organization" not in names


def test_ctrl_c_hangs_up_on_what_runs_and_every_request_has_one_record(tmp_path: Path) -> None:
    with Demo(tmp_path, "--drain-timeout", "600s") as demo:
        long = wait_until(lambda: [row["id"] for row in demo.running() if row["output_preview"]], PATIENCE, "a stream")
        demo.process.send_signal(signal.SIGINT)
        assert demo.process.wait(PATIENCE) == 0
    assert demo.troubles() == []
    with Server(tmp_path, "http://127.0.0.1:1/v1", data=demo.data) as after:
        records = after.records()
        assert len({record["id"] for record in records}) == len(records) >= len(LABELS)
        assert {record["outcome"] for record in records if record["id"] in long} == {"client_closed"}
        assert {record["outcome"] for record in records} <= {"complete", "client_closed", "upstream_failed"}
        assert after.get("/api/requests")["running"] == []
        assert after.get("/api/status")["frames_lost"] == 0


def test_without_the_sdk_the_demo_says_so_once_and_runs(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    absent.mkdir()
    (absent / "openai.py").write_text("raise ModuleNotFoundError(\"No module named 'openai'\", name='openai')\n")
    path = os.pathsep.join([str(absent), os.environ.get("PYTHONPATH", "")])
    with Demo(tmp_path, PYTHONPATH=path) as demo:
        demo.printed(r"(Sample traffic needs the OpenAI SDK: pip install 'relaybook\[demo\]'\.)", PATIENCE)
        with openai.OpenAI(base_url=demo.base_url, api_key="any", max_retries=0) as client:
            client.models.list()
        assert [record["kind"] for record in demo.wait_for("namespace=default")] == ["models"]
    assert demo.process.returncode == 0
    assert demo.stdout.count("Sample traffic needs") == 1
    assert demo.troubles() == []
    assert len([event for event in demo.events("child_started") if event["role"] == "traffic"]) == 1


class TerminalDemo(Demo):
    """``relaybook demo`` with a pseudo-terminal as its standard input, output and error."""

    def __init__(self, directory: Path) -> None:
        self._terminal, theirs = pty.openpty()
        self._shown = b""
        self.process = subprocess.Popen(
            [sys.executable, *arguments(directory)], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        try:
            self.dashboard = self.printed(r"dashboard\s+(\S+)", PATIENCE)
        except BaseException:
            self.kill()
            raise

    @property
    def stdout(self) -> str:
        """Everything the terminal has shown so far."""
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                data = os.read(self._terminal, 1 << 16)
            except OSError:  # Linux: the other end is closed
                break
            if not data:
                break
            self._shown += data
        return self._shown.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return ""

    def stop(self, seconds: float = 40.0) -> int:
        code = super().stop(seconds)
        os.close(self._terminal)
        return code


def test_a_terminal_shows_no_json_and_no_routine_events(tmp_path: Path) -> None:
    with TerminalDemo(tmp_path) as demo:
        demo.wait_for("namespace=production")
        demo.process.send_signal(signal.SIGHUP)
        demo.printed(r"(reload.refused.+)", PATIENCE)
        demo.process.send_signal(signal.SIGINT)
        assert demo.process.wait(PATIENCE) == 0
        text = demo.stdout
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("{")] == []
    assert len([line for line in lines if line.startswith("relaybook: ")]) == 1
    assert "child_started" not in text
    assert lines[-2].startswith("Press Ctrl+C to stop.")
