"""Test what the command ``delete`` shows, asks and reports."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.rows import row

from relaybook.cli import delete as module
from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.server_log import CountChanged
from relaybook.settings.configuration import Configuration, resolve

STARTED = "Deletion d1 has started."
RECEIPT = "Receipt, whose address contains the filter: http://127.0.0.1:4101/deletions/d1?namespace=ios"
REMOVED = "Removed from the log at 2026-11-30T14:02:23Z, by deletion d1."
ERASED = "Erased at 2026-11-30T14:02:49Z: no file of the log contains the bytes of these requests any more."

STATES = ("removing", "erasing", "done")


class Log:
    """A fake log of ``counts[0]`` requests.

    Deletions are refused while more than one count is left. Each refusal removes the first count.
    """

    def __init__(
        self, *counts: int, running: int = 0, states: tuple[str, ...] = ("removing", "erasing", "done")
    ) -> None:
        self.counts = list(counts)
        self.running = running
        self.states = states
        self.requested: list[tuple[list[tuple[str, str]], int]] = []
        self.lag = 0.0

    def lag_seconds(self) -> float:
        return self.lag

    def count_exactly(self, terms: list[tuple[str, str]]) -> int:
        return self.counts[0]

    def latest(self, terms: list[tuple[str, str]], limit: int) -> tuple[list[dict[str, Any]], bool]:
        return [row(namespace="ios")] * min(limit, self.counts[0]) + [row(outcome="open")] * self.running, True

    def request_deletion(self, terms: list[tuple[str, str]], count: int) -> dict[str, Any]:
        if len(self.counts) > 1:
            self.counts.pop(0)
            raise CountChanged(self.counts[0])
        self.requested.append((terms, count))
        return {"id": "d1", "requests": count, "removed": 0, "state": "removing"}

    def follow_deletion(self, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
        for state in self.states:
            if state == "interrupted":
                raise KeyboardInterrupt
            if state == "done" and not waits:
                return
            times = {
                "removed_at": None if state == "removing" else "2026-11-30T14:02:23Z",
                "done_at": "2026-11-30T14:02:49Z" if state == "done" else None,
            }
            yield {"id": deletion_id, "requests": 2, "removed": self.requested[0][1], "state": state} | times

    @property
    def pending_text(self) -> str:
        return "waiting"

    def receipt_url(self, deletion_id: str, terms: list[tuple[str, str]]) -> str | None:
        return f"http://127.0.0.1:4101/deletions/{deletion_id}?namespace=ios"

    def values(self, field: str) -> list[str]:
        return ["ios"]


@pytest.fixture
def settings(tmp_path: Path) -> Configuration:
    return resolve({"data": "log"}, {}, tmp_path)


def run(
    monkeypatch: pytest.MonkeyPatch,
    settings: Configuration,
    log: Log,
    *answers: str,
    waits: bool = False,
    yes: bool = False,
) -> list[str]:
    """Run the command with these answers, and return the questions of the command."""
    questions: list[str] = []
    left = list(answers)

    def ask(question: str) -> str:
        questions.append(question)
        if not left:
            raise EOFError
        return left.pop(0)

    monkeypatch.setattr(module, "open_log", lambda _: log)
    monkeypatch.setattr("builtins.input", ask)
    assert module.delete(settings, ["namespace=ios"], is_confirmed=yes, waits=waits) == 0
    return questions


def test_requests_that_are_not_recorded_yet_are_reported(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(2)
    log.lag = 16.0
    run(monkeypatch, settings, log, yes=True)
    assert capsys.readouterr().err.startswith(
        "The log is 16 s behind, so it lacks the newest requests. These requests will not be deleted.\n"
    )


def test_it_shows_five_requests_and_asks(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(37, running=2)
    assert run(monkeypatch, settings, log, "y") == ["Delete 37 requests? This cannot be undone. [y/N] "]
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert lines[0] == "2 requests that match are still running and will not be deleted."
    assert ["ios" in line for line in lines[1:6]] == [True] * 5
    assert lines[6:] == ["… and 32 older requests", STARTED, RECEIPT, "37 requests deleted.", REMOVED]
    assert output.err == "waiting\n"
    ((terms, count),) = log.requested
    assert count == 37
    assert [name for name, _ in terms] == ["namespace", "to"]


@pytest.mark.parametrize("answer", ["", "n", "37"])
def test_any_other_answer_deletes_nothing(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    log = Log(37)
    with pytest.raises(CommandFailed, match="Nothing was deleted"):
        run(monkeypatch, settings, log, answer)
    assert log.requested == []


def test_without_a_terminal_it_needs_yes(settings: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(37)
    with pytest.raises(CommandFailed, match="use --yes"):
        run(monkeypatch, settings, log)
    assert run(monkeypatch, settings, log, yes=True) == []
    assert len(log.requested) == 1


@pytest.mark.parametrize(("answer", "is_deleted"), [("y", False), ("1234", True), ("1,234", True), ("1235", False)])
def test_the_number_of_many_requests_must_be_typed(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, answer: str, is_deleted: bool
) -> None:
    log = Log(1234)
    if is_deleted:
        assert run(monkeypatch, settings, log, answer) == ["To delete 1,234 requests, type 1234: "]
    else:
        with pytest.raises(CommandFailed):
            run(monkeypatch, settings, log, answer)
    assert bool(log.requested) == is_deleted


def test_it_asks_again_if_the_number_has_changed(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(2, 3)
    questions = run(monkeypatch, settings, log, "y", "y")
    assert [question.partition("?")[0] for question in questions] == ["Delete 2 requests", "Delete 3 requests"]
    assert "The new number is 3." in capsys.readouterr().err


def test_if_nothing_matches_it_says_so(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(0)
    assert run(monkeypatch, settings, log) == []
    assert capsys.readouterr().err == "No request matches namespace=ios.\n"


def test_ctrl_c_ends_only_the_command_and_the_receipt_is_printed_before(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandFailed, match="This command has ended, but the deletion d1 continues in the server"):
        run(monkeypatch, settings, Log(2, states=("removing", "interrupted")), yes=True)
    assert capsys.readouterr().out.splitlines() == [STARTED, RECEIPT]


def test_with_wait_it_returns_when_the_deletion_is_done(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, settings, Log(2), yes=True, waits=True)
    output = capsys.readouterr()
    assert (output.out.splitlines(), output.err) == ([STARTED, RECEIPT, "2 requests deleted.", REMOVED, ERASED], "")


@pytest.mark.parametrize("filters", [[], ["q="]])
def test_a_filter_is_required(settings: Configuration, filters: list[str]) -> None:
    with pytest.raises(BadArgument, match="write from=1970-01-01"):
        module.delete(settings, filters, is_confirmed=True, waits=False)


def test_a_given_end_and_a_start_in_the_future_are_kept(
    settings: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    for filters, expected in ((["to=2026-01-01"], ["to"]), (["from=9000-01-01"], ["from"])):
        log = Log(1)
        monkeypatch.setattr(module, "open_log", lambda _, log=log: log)
        module.delete(settings, filters, is_confirmed=True, waits=False)
        assert [name for name, _ in log.requested[0][0]] == expected
