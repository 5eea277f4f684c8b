"""Shared by all tests: which of them run alone, the order of the rest, and what was left out for a missing tool."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.support.needs import PREFIX
from tests.support.progress import Progress, directory_of

TESTS = Path(__file__).parent
#: Directories whose tests load the machine or kill processes: all of them are one group, so one worker runs them.
ALONE = ("crash", "e2e")
#: The longest first, so that both workers end at about the same time. Those alone begin at once.
ORDER = (*ALONE, "integration", "conformance", "network", "fuzz", "unit", "architecture")


def pytest_configure(config: pytest.Config) -> None:
    """A parallel run prints lines of progress instead of dots."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config, ALONE), "progress")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts by ``ORDER``; within a directory nothing moves."""
    items.sort(key=lambda item: ORDER.index(directory_of(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Gives each worker one file after another, and all tests of ``ALONE`` to the same worker.

    xdist's own ``--dist loadgroup`` does that by marks, but does nothing at all under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "alone" if directory_of(nodeid) in ALONE else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Scheduler(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says which tests were left out for a missing tool, and what would allow them."""
    left_out = left_out_by_tool(terminalreporter.stats.get("skipped", []))
    for tool, count in sorted(left_out.items()):
        tests, need = ("test", "needs") if count == 1 else ("tests", "need")
        terminalreporter.write_line(f"left out: {count} {tests} {need} {tool}. {remedy(tool)}")


def left_out_by_tool(reports: list[Any]) -> Counter[str]:
    """How many skipped tests each missing tool accounts for."""
    reasons = (report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple))
    begin = f"Skipped: {PREFIX}"
    return Counter(reason.removeprefix(begin) for reason in reasons if reason.startswith(begin))


def remedy(tool: str) -> str:
    """The one command that would allow the tests, where there is one."""
    if tool == "sqlmap":
        return "Allow them: make venv"
    if not Path("/etc/debian_version").exists():
        return f"Install {tool} by hand." if sys.platform == "linux" else "They run on Linux only."
    return "Allow them: " + ("make system-deps" if os.geteuid() == 0 else "sudo make system-deps")
