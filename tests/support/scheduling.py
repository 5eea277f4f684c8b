"""Assign tests to the workers of a parallel run."""

import os
from typing import Any, Final

import pytest
from tests.support.progress import directory_of

#: Directories whose tests run a browser, load the machine or kill processes. One worker runs all tests of a directory.
ALONE: Final = ("e2e", "crash")
#: Added to the nice value of workers that run other tests.
_GIVE_WAY: Final = 5


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assign one file after another to each worker, and all tests of a directory in ``ALONE`` to the same worker.

    xdist's option ``--dist loadgroup`` does the same with marks, but it has no effect under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            directory = directory_of(nodeid)
            return directory if directory in ALONE else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Scheduler(config, log)


class GiveWay:
    """Lowers the priority of a worker and of all processes that it starts, unless its first test is one of ``ALONE``.

    The tests of a directory in ``ALONE`` run one at a time, so they determine the minimum duration of a run.
    """

    def __init__(self) -> None:
        self._has_begun = False

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if not self._has_begun and directory_of(nodeid) not in ALONE:
            os.nice(_GIVE_WAY)
        self._has_begun = True
