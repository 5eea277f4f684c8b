"""Test the import contracts in pyproject.toml, import cycles, and the dependencies of the core modules."""

import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports
from tests.support.tree import ROOT, source_files

#: Core modules do no I/O, and msgspec is the only third-party package that they import.
FACTS = ("apis", "errors", "clock", "ids", "tags", "log.record", "log.query.filters")
FACTS += ("settings.definitions", "settings.typed_values")
#: Modules of the standard library that only code with I/O needs.
IO_MODULES = {"asyncio", "http", "multiprocessing", "selectors", "shutil", "signal", "socket", "ssl", "subprocess"}
IO_MODULES |= {"tempfile", "threading"}


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("relaybook", "relaybook_demo", include_external_packages=True, cache_dir=None)


def test_the_import_contracts_hold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)  # keeps all existing loggers enabled
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


def test_no_imports_are_circular() -> None:
    ours = {name: graph().find_modules_directly_imported_by(name) for name in graph().modules}
    try:
        TopologicalSorter(ours).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.parametrize("name", FACTS)
def test_core_facts_depend_on_nothing_but_msgspec(name: str) -> None:
    imported = graph().find_modules_directly_imported_by(f"relaybook.{name}")
    foreign = {module for module in imported if not module.startswith("relaybook")}
    assert foreign <= set(sys.stdlib_module_names) - IO_MODULES | {"msgspec"}


def test_the_clock_is_read_in_one_place() -> None:
    """Only ``clock`` reads the monotonic clock, for durations, and the wall clock, for timestamps."""
    calls = re.compile(r"\btime\.(?:time|monotonic|perf_counter)|datetime\.now|date\.today|utcnow")
    offenders = [path.name for path in source_files() if calls.search(path.read_text("utf-8"))]
    assert offenders == ["clock.py"]


def test_only_the_dashboard_process_loads_what_only_the_dashboard_needs() -> None:
    """In other processes, the dashboard's modules would take half a second at the start and a third of the memory."""
    assert loaded("import relaybook.server.child") & {"starlette", "apsw"} == set()


def test_the_recorder_does_not_load_asyncio() -> None:
    """Loading asyncio would take a sixth of the CPU time of the recorder's start."""
    program = "import relaybook.server.child, relaybook.server.recording, relaybook.log.store.sqlite.writer"
    assert loaded(program) & {"apsw", "asyncio"} == {"apsw"}


def test_a_server_without_a_log_starts_without_loading_the_store(tmp_path: Path) -> None:
    """If the store were loaded, the first process would use a fifth more CPU time until the relay starts."""
    program = f"""
from relaybook.cli.main import main
from relaybook.server.supervisor import Supervisor
Supervisor.run = lambda *_: 0
addresses = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]
assert main(["serve", "--data", {str(tmp_path)!r}, *addresses]) == 0
"""
    modules = loaded(program)
    assert "relaybook.server.program" in modules
    assert not [name for name in modules if name.startswith("relaybook.log.")]


def loaded(program: str) -> set[str]:
    """Run a program in a new Python process, and return the modules that were loaded."""
    program += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())
