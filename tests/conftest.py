"""Set the order of all tests and which of them run alone, and summarize the skipped tests."""

import compileall
import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from tests.support.clickhouse.server import description, skip_clickhouse
from tests.support.long import LONG
from tests.support.needs import PREFIX
from tests.support.progress import Progress, directory_of
from tests.support.scheduling import ALONE, GiveWay, pytest_xdist_make_scheduler  # noqa: F401 - pytest calls the hook
from trustme import CA

TESTS = Path(__file__).parent
#: The order of the test directories: the longest come first, so that all workers end at about the same time.
ORDER = (*ALONE, "integration", "conformance", "network", "fuzz", "golden", "unit", "architecture")

#: The targets of the Makefile that provide what a test needs.
TARGETS = {"clickhouse": "test STORE=clickhouse", "the built page": "page", "the long form": "long"}
#: The tools that ``make system-deps`` installs (``TOOLS`` in the Makefile).
SYSTEM_TOOLS = ("jq", "strace", "chromium-headless-shell")

# ``make test`` uses the same examples for a property in each run. With new random examples, a commit that passed could
# fail later.
settings.load_profile("default" if LONG else "ci")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the bytecode once, and print progress lines instead of dots in parallel runs.

    Many containers set ``PYTHONDONTWRITEBYTECODE``. With that variable, every process that a test starts would compile
    all modules again, which is a third of the CPU time that a server takes to start.
    """
    # A shell that runs pytest in the background makes it ignore Ctrl-C, and so all commands that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.dont_write_bytecode = False  # so that pytest also caches the bytecode of test modules
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(GiveWay(), "give-way")
        return
    for directory in (TESTS.parent / "src", TESTS):
        compileall.compile_dir(directory, quiet=2)
    trust_one_certificate(config)
    if config.getoption("numprocesses", None):
        config.pluginmanager.register(Progress(config, ALONE), "progress")


def trust_one_certificate(config: pytest.Config) -> None:
    """Replace the certificates of the system by a single one, in this process and all processes that it starts.

    Each client of an SDK reads all these certificates, which takes 17 ms of CPU time. No test connects to other hosts.
    """
    directory = TemporaryDirectory()
    config.add_cleanup(directory.cleanup)
    path = Path(directory.name) / "ca.pem"
    CA().cert_pem.write_to_path(path)
    os.environ["SSL_CERT_FILE"] = str(path)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect the tests without the garbage collector, and exclude them and all modules from later collections.

    The collector takes a fifth of the CPU time of the collection, and finds no garbage: all objects are still needed.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort tests by the ``ORDER`` of their directories, and keep the order within each directory.

    Also skip the tests that need ClickHouse if they should not run.
    """
    items.sort(key=lambda item: ORDER.index(directory_of(item.nodeid)))
    skip_clickhouse(items)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many tests were skipped because a tool is missing, and how to install the tool.

    If the tests use a ClickHouse server that somebody else runs, print its version first.
    """
    if used := description():
        terminalreporter.write_line(used)
    skipped = skipped_by_tool(terminalreporter.stats.get("skipped", []))
    for tool, count in sorted(skipped.items()):
        tests, need = ("test", "needs") if count == 1 else ("tests", "need")
        terminalreporter.write_line(f"skipped: {count} {tests} {need} {tool}. {remedy(tool)}".rstrip())


def skipped_by_tool(reports: list[Any]) -> Counter[str]:
    """Return the number of skipped tests for each missing tool."""
    reasons = (report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple))
    begin = f"Skipped: {PREFIX}"
    return Counter(reason.removeprefix(begin) for reason in reasons if reason.startswith(begin))


def remedy(need: str) -> str:
    """Return instructions for a missing tool, or an empty text if no target installs it."""
    if need in TARGETS:
        return f"To run them: make {TARGETS[need]}"
    if need not in SYSTEM_TOOLS:
        return ""
    if not Path("/etc/debian_version").exists():
        return f"Install {need} by hand." if sys.platform == "linux" else "They run on Linux only."
    return "To run them: " + ("make system-deps" if os.geteuid() == 0 else "sudo make system-deps")
