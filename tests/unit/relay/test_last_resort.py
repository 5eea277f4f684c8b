import asyncio
import threading
from typing import Any

import pytest
import uvloop

from relaybook.relay import last_resort


class Ended(BaseException):
    """Raised by the fake ``os._exit`` instead of ending the process."""


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace ``os._exit``, and return the list to which its exit codes are added."""
    codes: list[int] = []

    def fake_exit(code: int) -> None:
        codes.append(code)
        raise Ended

    monkeypatch.setattr("os._exit", fake_exit)
    return codes


def exits(context: dict[str, Any], ends: list[int]) -> int:
    """Return how many times ``os._exit`` is called when the event loop reports this context."""
    loop = asyncio.new_event_loop()
    last_resort.install(loop)
    try:
        loop.call_exception_handler(context)
    except Ended:
        pass
    finally:
        loop.close()
        threading.excepthook = threading.__excepthook__
    return len(ends)


@pytest.mark.parametrize("error", [ValueError("ours"), MemoryError()])
def test_a_failing_callback_of_the_event_loop_ends_the_process(ends: list[int], error: Exception) -> None:
    assert exits({"message": "", "exception": error, "handle": object()}, ends) == 1
    assert ends == [1]


def test_a_failure_in_one_connection_does_not_end_the_process(ends: list[int]) -> None:
    context = {"message": "", "exception": ValueError("ours"), "transport": object(), "protocol": object()}
    assert exits(context, ends) == 0


def test_running_out_of_memory_anywhere_ends_the_process(ends: list[int], capfd: pytest.CaptureFixture[str]) -> None:
    assert exits({"message": "", "exception": MemoryError(), "transport": object()}, ends) == 1
    assert '"event": "out_of_memory"' in capfd.readouterr().err


def test_uvloop_reports_a_failing_callback_with_its_handle(ends: list[int]) -> None:
    """``last_resort`` recognizes failing callbacks by the key ``handle`` in the context."""

    async def fail() -> None:
        loop = asyncio.get_running_loop()
        calls: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: calls.append(context))
        loop.call_soon(lambda: 1 / 0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [("handle" in context, type(context["exception"])) for context in calls] == [(True, ZeroDivisionError)]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(fail())


def test_a_failing_required_task_ends_the_process(ends: list[int]) -> None:
    async def run() -> None:
        async def fail() -> None:
            raise FileNotFoundError

        failing, waiting = asyncio.create_task(fail()), asyncio.create_task(asyncio.sleep(60))
        await asyncio.wait({failing})
        waiting.cancel()
        await asyncio.wait({waiting})
        last_resort.exit_on_failure(waiting)  # type: ignore[arg-type]
        with pytest.raises(Ended):
            last_resort.exit_on_failure(failing)

    asyncio.run(run())
    assert ends == [1]
