"""Every module has its unit test at the same place, or stands here with the reason why not."""

from tests.support.tree import ROOT, SOURCE, source_files

UNIT = ROOT / "tests" / "unit"
#: Modules without a unit test of their own, with what covers them instead. A name that ends in a slash is a package.
ELSEWHERE: dict[str, str] = {
    "api/answers.py": "declares shapes: the tests of the handlers that answer in them",
    "api/document.py": "declares parameters: the tests of the handlers that take them",
    "api/sums_answers.py": "declares shapes: tests/unit/api/test_stats.py",
    "api/thread_answers.py": "declares shapes: tests/unit/api/test_thread.py",
    "api/server.py": "a server on sockets: tests/integration",
    "commands/check.py": "reads a directory and dials: tests/integration/test_cli.py",
    "commands/failure.py": "two exceptions and two numbers",
    "commands/repair.py": "reads and writes stores: tests/integration/test_repair.py",
    "commands/reload.py": "signals a server: tests/integration/test_reload.py",
    "commands/redirects.py": "one refusal: tests/integration/test_cli.py",
    "commands/server_log.py": "asks a server: tests/integration/test_cli.py",
    "commands/simulate.py": "runs a server: tests/integration/test_cli.py",
    "commands/store_log.py": "reads a store: tests/integration/test_cli.py",
    "journal/disk.py": "system calls: tests/integration/test_journal.py",
    "journal/reader.py": "reads files: tests/integration/test_journal.py",
    "journal/segment.py": "reads and writes files: tests/integration/test_journal.py",
    "journal/writer.py": "writes files: tests/integration/test_journal.py",
    "relay/connection.py": "a socket: tests/integration, tests/conformance",
    "recorder/loop.py": "reads a journal and writes a store: tests/integration/test_recorder.py",
    "recorder/run.py": "reads a journal: tests/integration/test_recorder.py",
    "relay/dial.py": "dials: tests/integration, tests/conformance",
    "relay/downstream.py": "a socket: tests/integration, tests/conformance",
    "relay/front.py": "asks the relay's state: tests/integration/test_bad_input.py, test_slips.py",
    "relay/limits.py": "declares numbers",
    "relay/pool.py": "sockets: tests/integration",
    "relay/relay.py": "puts the relay together: tests/integration",
    "relay/shared.py": "state that the sockets share: tests/integration, tests/conformance",
    "relay/sides.py": "two protocols: the tests of what implements them",
    "relay/upstream.py": "a socket: tests/integration, tests/conformance",
    "relay/worker.py": "a process: tests/integration, tests/crash",
    "serve/": "processes, signals and sockets: tests/integration, tests/crash",
    "simulator/prepared/": "declares texts: tests/unit/simulator/test_texts.py",
    "stores/sqlite/rollups.py": "a database: tests/integration/test_sqlite_stats.py, tests/conformance/stores",
    "stores/sqlite/stats.py": "a database: tests/integration/test_sqlite_stats.py, tests/conformance/stores",
    "stores/sqlite/upgrade.py": "a database: tests/integration/test_sqlite_stats.py",
    "stores/sqlite/lookups.py": "a database: tests/integration/test_sqlite_lookups.py",
    "stores/sqlite/text_index.py": "a database: tests/integration/test_text_index.py, tests/conformance/stores",
    "stores/text.py": "a port: tests/conformance/stores/test_words.py",
    "stores/memory_limits.py": "of the reference store: tests/conformance/stores/test_committing.py",
    "stores/base.py": "the port: tests/conformance/stores",
    "stores/errors.py": "names of what goes wrong: the tests of those who raise them",
    "stores/labels.py": "the port: tests/conformance/stores",
    "stores/memory.py": "a store: tests/conformance/stores",
    "stores/memory_lists.py": "a part of it: tests/conformance/stores",
    "stores/sqlite/": "a store on a disk: tests/conformance/stores, tests/integration",
}


def wanted_test(module: str) -> str:
    directory, _, name = module.rpartition("/")
    return f"{directory}/test_{name}".lstrip("/")


def modules() -> list[str]:
    paths = [path.relative_to(SOURCE).as_posix() for path in source_files()]
    return [path for path in paths if not path.endswith("__init__.py")]


def is_elsewhere(module: str) -> bool:
    return any(module == name or (name.endswith("/") and module.startswith(name)) for name in ELSEWHERE)


def test_every_module_has_its_unit_test() -> None:
    missing = [name for name in modules() if not is_elsewhere(name) and not (UNIT / wanted_test(name)).exists()]
    assert missing == []


def test_every_unit_test_has_its_module() -> None:
    wanted = {wanted_test(name) for name in modules()}
    found = {path.relative_to(UNIT).as_posix() for path in UNIT.rglob("test_*.py")}
    assert sorted(found - wanted) == []


def test_the_exceptions_are_still_needed() -> None:
    assert [name for name in ELSEWHERE if not (SOURCE / name).exists()] == []
    assert [name for name in ELSEWHERE if name.endswith(".py") and (UNIT / wanted_test(name)).exists()] == []
