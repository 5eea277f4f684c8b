"""Who imports whom: the contracts of pyproject.toml, no cycles, and what the core facts may lean on."""

import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest
from importlinter.cli import lint_imports
from tests.support.tree import ROOT, source_files

#: Facts: no I/O, and of third parties msgspec alone.
FACTS = ("errors", "clock", "ids", "tags", "kinds", "log.record", "log.query.filters")
FACTS += ("settings.definitions", "settings.typed_values")
#: What only code that does I/O has a use for.
IO_MODULES = {"asyncio", "http", "multiprocessing", "selectors", "shutil", "signal", "socket", "ssl", "subprocess"}
IO_MODULES |= {"tempfile", "threading"}


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("relaybook", "relaybook_demo", include_external_packages=True, cache_dir=None)


def test_the_import_contracts_hold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)  # it silences all loggers there are, in all tests
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


def test_no_module_imports_itself_in_a_circle() -> None:
    ours = {name: graph().find_modules_directly_imported_by(name) for name in graph().modules}
    try:
        TopologicalSorter(ours).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.parametrize("name", FACTS)
def test_core_facts_lean_on_nothing_but_msgspec(name: str) -> None:
    imported = graph().find_modules_directly_imported_by(f"relaybook.{name}")
    foreign = {module for module in imported if not module.startswith("relaybook")}
    assert foreign <= set(sys.stdlib_module_names) - IO_MODULES | {"msgspec"}


def test_the_clock_is_read_in_one_place() -> None:
    """Durations from the monotonic clock, moments from the wall clock: ``clock`` decides, nobody else reads one."""
    calls = re.compile(r"\btime\.(?:time|monotonic|perf_counter)|datetime\.now|date\.today|utcnow")
    offenders = [path.name for path in source_files() if calls.search(path.read_text("utf-8"))]
    assert offenders == ["clock.py"]


def test_no_process_but_the_dashboard_loads_what_only_the_dashboard_needs() -> None:
    """It would cost each of the others half a second at its start, and a third of its memory."""
    program = (
        "import sys, relaybook.server.child; print([name for name in ('starlette', 'apsw') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
