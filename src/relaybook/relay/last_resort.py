"""End the relay process if log entries could otherwise be lost unnoticed.

The effect is the same as with SIGKILL. The journal contains all bytes that were sent. Running exchanges are recorded as
interrupted, and the supervisor starts another relay. An error in a callback of one connection does not end the process,
because the event loop closes only that connection.
"""

import asyncio
import logging
import os
import threading
from typing import Any, Final, NoReturn

log = logging.getLogger("relaybook.relay")

#: The message is created in advance, because later there may be no memory for it.
_NO_MEMORY: Final = b'{"level": "critical", "part": "relay", "event": "out_of_memory"}\n'


def exit_now(error: BaseException) -> NoReturn:
    """Log the error and end the process without closing anything."""
    if isinstance(error, MemoryError):
        os.write(2, _NO_MEMORY)
    else:
        log.critical("relay_failed", exc_info=error)
    os._exit(1)


def install(loop: asyncio.AbstractEventLoop) -> None:
    """From now on, end the process if memory runs out, a callback scheduled on the event loop fails, or a thread fails.

    The gate schedules callbacks on the event loop. If a callback of the gate fails, bytes may never be sent although
    their frames are in the journal.
    """
    loop.set_exception_handler(_unhandled)
    threading.excepthook = _thread_failed


def exit_on_failure(task: asyncio.Task[None]) -> None:
    """End the process if a task failed. Use this function as the done callback of tasks that the relay needs."""
    if not task.cancelled() and (error := task.exception()):
        exit_now(error)


def _unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, MemoryError) or (error and "handle" in context):
        exit_now(error)
    loop.default_exception_handler(context)


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    """End the process if a thread failed, because the relay's threads sync the journal and create segments."""
    exit_now(failed.exc_value or SystemError("a thread failed"))
