"""If the recorder does not work, commands say that the log is behind."""

import os
import signal
from pathlib import Path

import pytest
from tests.support.raw_http import send_request
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.cli.main import main


def test_commands_report_a_recorder_that_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("relaybook.cli.check._LONG_LAG_SECONDS", 1.0)
    monkeypatch.setattr("relaybook.cli.terms._LAG_SECONDS", 1.0)
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        log = ["--data", str(server.data), "--dashboard", server.dashboard.removeprefix("http://")]
        first = dict(send_request(server.port).headers)["service-request-id"]
        server.record(first)
        recorder = server.pid_of("recorder")
        os.kill(recorder, signal.SIGSTOP)
        try:
            second = dict(send_request(server.port).headers)["service-request-id"]
            wait_until(lambda: server.get("/api/status")["journal"]["lag_seconds"] > 1, what="the lag")
            assert main(["show", second, *log]) == 1
            assert "s behind, so it lacks the newest requests. relaybook tail --ids" in capsys.readouterr().err
            assert main(["check", "--upstream", provider.url, *log]) == 0
            assert "readable, but the log is " in capsys.readouterr().out
        finally:
            os.kill(recorder, signal.SIGCONT)
        server.record(second)
        wait_until(lambda: server.get("/api/status")["journal"]["lag_seconds"] == 0, what="the end of the lag")
        assert main(["check", "--upstream", provider.url, *log]) == 0
        assert "✓ journal:" in capsys.readouterr().out
