import asyncio
import threading
from typing import Any

import pytest
import uvloop

from relaybook.relay import last_resort


class Ended(BaseException):
    """In the place of the end of the process."""


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Exit codes with which the process would have ended."""
    found: list[int] = []

    def leave(code: int) -> None:
        found.append(code)
        raise Ended

    monkeypatch.setattr("os._exit", leave)
    return found


def said(context: dict[str, Any], ends: list[int]) -> int:
    """How often the process would end when the loop tells of this."""
    loop = asyncio.new_event_loop()
    last_resort.watch(loop)
    try:
        loop.call_exception_handler(context)
    except Ended:
        pass
    finally:
        loop.close()
        threading.excepthook = threading.__excepthook__
    return len(ends)


@pytest.mark.parametrize("error", [ValueError("ours"), MemoryError()])
def test_a_callback_of_the_loop_that_fails_ends_the_process(ends: list[int], error: Exception) -> None:
    assert said({"message": "", "exception": error, "handle": object()}, ends) == 1
    assert ends == [1]


def test_what_fails_in_one_connection_costs_only_that(ends: list[int]) -> None:
    context = {"message": "", "exception": ValueError("ours"), "transport": object(), "protocol": object()}
    assert said(context, ends) == 0


def test_want_of_memory_ends_the_process_wherever_it_is_met(ends: list[int], capfd: pytest.CaptureFixture[str]) -> None:
    assert said({"message": "", "exception": MemoryError(), "transport": object()}, ends) == 1
    assert '"event": "out_of_memory"' in capfd.readouterr().err


def test_a_failing_callback_is_told_as_such_by_the_loop_we_use(ends: list[int]) -> None:
    """The last resort knows callbacks by the word ``handle`` in what the loop tells."""

    async def fail() -> None:
        loop = asyncio.get_running_loop()
        told: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: told.append(context))
        loop.call_soon(lambda: 1 / 0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [("handle" in context, type(context["exception"])) for context in told] == [(True, ZeroDivisionError)]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(fail())


def test_a_task_that_must_not_fail_ends_the_process_when_it_does(ends: list[int]) -> None:
    async def run() -> None:
        async def fail() -> None:
            raise FileNotFoundError

        failing, waiting = asyncio.create_task(fail()), asyncio.create_task(asyncio.sleep(60))
        await asyncio.wait({failing})
        waiting.cancel()
        await asyncio.wait({waiting})
        last_resort.must_not_fail(waiting)  # type: ignore[arg-type]
        with pytest.raises(Ended):
            last_resort.must_not_fail(failing)

    asyncio.run(run())
    assert ends == [1]
