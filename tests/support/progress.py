"""Print the progress of a parallel test run: one line per minute, failures at once, and a table at the end."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import accumulate

import pytest
from _pytest.terminal import TerminalReporter

_EVERY_SECONDS = 60.0


class Progress:
    """Counts tests by directory below ``tests``, in the process that controls the workers.

    The counts replace pytest's dots. ``alone`` are directories whose tests must not overlap. The table shows how many
    tests of each of them ran at the same time.
    """

    def __init__(self, config: pytest.Config, alone: Iterable[str]) -> None:
        self._config = config
        self._alone = frozenset(alone)
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._failed = 0
        #: Start and end times of the tests in ``alone``, by directory and test.
        self._spans: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._started_at = self._printed_at = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests of each directory. Every worker collects the same tests."""
        self._total = Counter(map(directory_of, ids))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Suppress the letter that pytest prints for each test."""
        if report.when == "call" and report.passed:
            return "passed", "", ""
        if report.failed:
            return ("failed" if report.when == "call" else "error"), "", ""
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        directory = directory_of(report.nodeid)
        self._seconds[directory] += report.duration
        if directory in self._alone:
            self._spans[directory][report.nodeid] += (report.start, report.stop)
        if report.failed:
            self._failed += 1
            self._write(f"FAILED {report.nodeid}")
        if report.when == "teardown":
            self._done[directory] += 1
            if self._done[directory] == self._total[directory] or time.monotonic() > self._printed_at + _EVERY_SECONDS:
                self._printed_at = time.monotonic()
                self._write(self._line())

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        for row in self._table():
            terminalreporter.write_line(row)

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line)

    def _line(self) -> str:
        parts = [f"{name} {self._done[name]}/{total}" for name, total in sorted(self._total.items())]
        failed = f", {self._failed} failed" if self._failed else ""
        done, total = self._done.total(), self._total.total()
        return f"{_clock(time.monotonic() - self._started_at)}  {done} of {total} tests{failed}  ({', '.join(parts)})"

    def _table(self) -> list[str]:
        rows = [f"{'directory':<14}{'tests':>7}{'minutes':>9}"]
        rows += [f"{name:<14}{self._done[name]:>7}{_clock(self._seconds[name]):>9}" for name in sorted(self._done)]
        for directory, spans in sorted(self._spans.items()):
            peak = _max_overlap((min(times), max(times)) for times in spans.values())
            rows.append(f"{len(spans)} tests in {directory}: at most {peak} ran at a time")
        return rows


def directory_of(nodeid: str) -> str:
    """Return the directory below ``tests`` that contains a test."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else parts[0]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _max_overlap(spans: Iterable[tuple[float, float]]) -> int:
    """Return the largest number of overlapping spans. Spans that only touch do not overlap."""
    changes = sorted(step for start, end in spans for step in ((start, 1), (end, -1)))
    return max(accumulate(change for _, change in changes), default=0)
