"""What holds for all tests: crash tests run one after another, and tests left out are listed at the end."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.support.needs import PREFIX

TESTS = Path(__file__).parent
#: Directories whose tests load the machine or kill processes; pytest-xdist keeps them on one worker.
ALONE = ("crash", "e2e")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of each directory in ALONE into one group, so that they never run beside each other."""
    for item in items:
        if item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).parts[0] in ALONE:
            item.add_marker(pytest.mark.xdist_group("alone"))


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
