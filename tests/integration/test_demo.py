"""The demo logs sample traffic of every kind together with the user's own requests, and can be stopped at any time."""

import itertools
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import openai
import pytest
from tests.support.parts import text_of
from tests.support.server import Program, Server, wait_until

from relaybook_demo.samples import questions

LABELS: Final = ["production", "staging", "development", "iOS", "Android", "web", "default"]
LONG_QUESTIONS: Final = {question.text for question in questions.LONG}
ID_LIKE: Final = re.compile(r"@|\d{3}|[0-9a-f]{8}")
#: A machine under load needs a long time to start six processes.
TIMEOUT_SECONDS: Final = 120.0


def arguments(directory: Path) -> list[str]:
    """Return the arguments for Python that run ``relaybook demo`` on free ports."""
    flags = ["--data", str(directory / "data"), "--min-free", str(1 << 20)]
    return ["-m", "relaybook.cli.main", "demo", *flags, "--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]


class Demo(Server):
    """Run ``relaybook demo`` on free ports."""

    def __init__(self, directory: Path, *flags: str, **variables: str) -> None:
        self.data = directory / "data" / "demo"
        Program.__init__(self, [*arguments(directory), *flags], directory, "demo", {**os.environ, **variables})
        try:
            self.base_url = self.printed(r"base URL\s+(\S+)", TIMEOUT_SECONDS)
            self.dashboard = self.printed(r"dashboard\s+(\S+)")
        except BaseException:
            self.kill()
            raise

    def get(self, path: str) -> Any:
        """Send a GET request. While the demo is starting, repeat the request."""

        def attempt() -> list[Any] | None:
            try:
                return [Server.get(self, path)]
            except TimeoutError:
                return None

        return wait_until(attempt, TIMEOUT_SECONDS, path)[0]

    def running(self) -> list[dict[str, Any]]:
        """Return the running requests."""
        found: list[dict[str, Any]] = self.get("/api/requests?limit=1")["running"]
        return found

    def wait_for(self, query: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until a query finds at least this many records. Returns the records."""
        return wait_until(lambda: rows if len(rows := self.records(query)) >= count else None, TIMEOUT_SECONDS, query)

    def warnings(self) -> list[str]:
        """Return the lines on standard error with a level above ``info``."""
        return [line for line in self.stderr.splitlines() if '"level": "info"' not in line]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Return a demo in an environment with SDK settings and a proxy, which the demo must ignore."""
    variables = {"OPENAI_ORG_ID": "org-of-the-reader", "OPENAI_LOG": "debug", "HTTP_PROXY": "http://127.0.0.1:1"}
    with Demo(tmp_path_factory.mktemp("demo"), **variables) as running:
        yield running
    assert running.process.returncode == 0
    assert running.warnings() == []


def test_the_dashboard_is_printed_first(demo: Demo) -> None:
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
        "route=anthropic&kind=message",
        "route=gemini",
        "route=ollama",
    ],
)
def test_the_log_contains_every_kind_of_request(demo: Demo, query: str) -> None:
    assert demo.wait_for(query)


def test_at_least_three_users_have_threads(demo: Demo) -> None:
    def threads() -> set[str]:
        return {record["namespace"] for record in demo.records() if ID_LIKE.search(record["namespace"])}

    assert wait_until(lambda: threads() if len(threads()) >= 3 else None, TIMEOUT_SECONDS, "three threads")


def test_a_user_continues_a_conversation(demo: Demo) -> None:
    rows = demo.wait_for("namespace=user-8f3a41c9&outcome=complete", 3)
    turns = [demo.record(row["id"]) for row in sorted(rows, key=lambda row: row["started_at"])]
    for before, after in itertools.pairwise(turns[:3]):
        texts = [text_of(message) for message in after["messages"]]
        assert texts[:-2] == [text_of(message) for message in before["messages"]]
        assert texts[-2] == text_of(before["response"]["outputs"][0])


def test_some_responses_are_streams_and_others_are_not(demo: Demo) -> None:
    demo.wait_for("namespace=user-8f3a41c9&outcome=complete", 3)
    assert {record["stream"] for record in demo.records("outcome=complete&kind=chat")} == {True, False}


def test_a_retry_of_the_sdk_succeeds(demo: Demo) -> None:
    def retried() -> list[dict[str, Any]]:
        return [record for record in demo.records("status=200") if record["retry_count"]]

    assert wait_until(retried, TIMEOUT_SECONDS, "a retry")[0]["outcome"] == "complete"


def test_a_long_response_is_running(demo: Demo) -> None:
    def long() -> list[dict[str, Any]]:
        return [record for record in demo.running() if record["output_preview"]]

    assert wait_until(long, TIMEOUT_SECONDS, "a running answer")


def test_the_users_own_request_is_first_and_gets_a_relevant_response(demo: Demo) -> None:
    with openai.OpenAI(base_url=demo.base_url, api_key="any", max_retries=0) as client:
        response = client.chat.completions.with_raw_response.create(
            model="gpt-4o-mini",
            messages=[{"role": "user", "content": "A haiku about tea?"}],
            extra_headers={"Service-Namespace": "my-app"},
        )
    assert "Steam above the cup" in (response.parse().choices[0].message.content or "")
    (own_request,) = demo.wait_for("namespace=my-app")
    assert own_request["id"] == response.headers["Service-Request-Id"]


def test_sample_traffic_ignores_sdk_settings_in_the_environment(demo: Demo) -> None:
    (first, *_) = demo.wait_for("namespace=production")
    names = {name.lower() for name, _ in demo.record(first["id"])["request_headers"]}
    assert "x-stainless-lang" in names
    assert "openai-organization" not in names


def test_ctrl_c_interrupts_running_requests_and_each_has_one_record(tmp_path: Path) -> None:
    with Demo(tmp_path, "--drain-timeout", "600s") as demo:

        def just_started() -> list[str]:
            since = datetime.now(UTC) - timedelta(seconds=10)
            streams = [
                row for row in demo.running() if row["output_preview"] and row["input_preview"] in LONG_QUESTIONS
            ]
            return [row["id"] for row in streams if datetime.fromisoformat(row["started_at"]) > since]

        long = wait_until(just_started, TIMEOUT_SECONDS, "a stream that takes another twenty seconds")
        demo.process.send_signal(signal.SIGINT)
        assert demo.process.wait(TIMEOUT_SECONDS) == 0
    assert demo.warnings() == []
    with Server(tmp_path, "http://127.0.0.1:1/v1", data=demo.data) as after:
        records = after.records()
        assert len({record["id"] for record in records}) == len(records) >= len(LABELS)
        assert {record["outcome"] for record in records if record["id"] in long} == {"client_closed"}
        assert {record["outcome"] for record in records} <= {"complete", "client_closed", "upstream_failed"}
        assert after.get("/api/requests")["running"] == []
        assert after.get("/api/status")["frames_lost"] == 0


def test_without_the_sdk_the_demo_says_so_and_runs_without_sample_traffic(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    absent.mkdir()
    (absent / "sitecustomize.py").write_text('import sys\nsys.modules["openai"] = None\n')
    path = os.pathsep.join([str(absent), os.environ.get("PYTHONPATH", "")])
    with Demo(tmp_path, PYTHONPATH=path) as demo:
        with openai.OpenAI(base_url=demo.base_url, api_key="any", max_retries=0) as client:
            client.models.list()
        assert [record["kind"] for record in demo.wait_for("")] == ["models"]
    assert demo.process.returncode == 0
    advice = "because it needs the OpenAI SDK. To install the SDK, run pip install 'openai>=3'\n"
    assert f"no sample data, {advice}" in demo.stdout
    assert "contains sample data" not in demo.stdout
    assert demo.warnings() == []


class TerminalDemo(Demo):
    """Run ``relaybook demo`` with a pseudo-terminal as standard input, output and error."""

    def __init__(self, directory: Path) -> None:
        self._terminal, theirs = pty.openpty()
        self._output = b""
        self.process = subprocess.Popen(
            [sys.executable, *arguments(directory)], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        try:
            self.dashboard = self.printed(r"dashboard\s+(\S+)", TIMEOUT_SECONDS)
        except BaseException:
            self.kill()
            raise

    @property
    def stdout(self) -> str:
        """Return everything that the terminal has shown so far."""
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                data = os.read(self._terminal, 1 << 16)
            except OSError:  # on Linux, this means that the other end is closed
                break
            if not data:
                break
            self._output += data
        return self._output.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return ""

    def stop(self, seconds: float = 40.0) -> int:
        code = super().stop(seconds)
        os.close(self._terminal)
        return code


def test_a_terminal_shows_neither_json_nor_routine_events(tmp_path: Path) -> None:
    with TerminalDemo(tmp_path) as demo:
        demo.wait_for("namespace=production")
        demo.process.send_signal(signal.SIGHUP)
        demo.printed(r"(reload was refused.+)", TIMEOUT_SECONDS)
        demo.process.send_signal(signal.SIGINT)
        assert demo.process.wait(TIMEOUT_SECONDS) == 0
        text = demo.stdout
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("{")] == []
    assert len([line for line in lines if line.startswith("relaybook: ")]) == 1
    assert "child_started" not in text
    assert lines[-2].startswith("Press Ctrl+C to stop.")
