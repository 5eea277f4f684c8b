"""Test how parallel runs are scheduled.

One worker runs all tests of a directory that must not overlap. All other tests are assigned to workers file by file.
"""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.scheduling import ALONE, GiveWay, pytest_xdist_make_scheduler


@pytest.fixture
def config() -> Any:
    return SimpleNamespace(option=SimpleNamespace(), getvalue=lambda _: ["2*popen"])


@pytest.fixture
def scheduler(config: Any) -> Any:
    return pytest_xdist_make_scheduler(config, None)


@pytest.mark.parametrize("directory", ALONE)
def test_all_tests_that_run_alone_have_one_scope(scheduler: Any, directory: str) -> None:
    nodeids = [f"tests/{directory}/test_a.py::test_b[c::d]", f"tests/{directory}/e/test_f.py::test_g"]
    assert {scheduler._split_scope(nodeid) for nodeid in nodeids} == {directory}


@pytest.mark.parametrize("directory", ["unit/relay", "integration", "crashes", "architecture"])
def test_other_tests_have_the_scope_of_their_file(scheduler: Any, directory: str) -> None:
    file = f"tests/{directory}/test_a.py"
    for name in ("test_b", "test_b[c::d]", "TestC::test_d"):
        assert scheduler._split_scope(f"{file}::{name}") == file


def test_files_are_not_sorted_by_their_number_of_tests(scheduler: Any, config: Any) -> None:
    assert config.option.loadscopereorder is False
    assert scheduler.numnodes == 2


@pytest.mark.parametrize(
    ("nodeids", "times"),
    [
        (["tests/crash/test_a.py::test_b", "tests/unit/test_a.py::test_b"], 0),
        (["tests/unit/test_a.py::test_b", "tests/unit/test_a.py::test_c"], 1),
    ],
)
def test_a_worker_lowers_its_priority_once_unless_it_begins_with_tests_that_run_alone(
    nodeids: list[str], times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    niced: list[int] = []
    monkeypatch.setattr("os.nice", niced.append)
    give_way = GiveWay()
    for nodeid in nodeids:
        give_way.pytest_runtest_logstart(nodeid)
    assert len(niced) == times
    assert all(added > 0 for added in niced)
