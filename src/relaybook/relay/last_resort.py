"""Ends a relay's process where going on could leave a hole in the log that nobody sees.

As by SIGKILL: the journal has what the wire had, what ran is recorded as interrupted, and another relay is started.
An error inside one connection's own callback costs only that connection; the loop sees to that.
"""

import asyncio
import logging
import os
import threading
from typing import Any, Final, NoReturn

log = logging.getLogger("relaybook.relay")

#: Made beforehand: when it is wanted there may be no room to make it.
_NO_MEMORY: Final = b'{"level": "critical", "part": "relay", "event": "out_of_memory"}\n'


def end_at_once(error: BaseException) -> NoReturn:
    """Says why, and ends the process without closing anything."""
    if isinstance(error, MemoryError):
        os.write(2, _NO_MEMORY)
    else:
        log.critical("relay_failed", exc_info=error)
    os._exit(1)


def watch(loop: asyncio.AbstractEventLoop) -> None:
    """From now on the process ends for want of memory anywhere, and when a callback of the loop itself fails.

    Such a callback is the gate's: it may have lost actions whose frames are in the journal already.
    """
    loop.set_exception_handler(_unhandled)
    threading.excepthook = _thread_failed


def must_not_fail(task: asyncio.Task[None]) -> None:
    """For tasks that nothing works without, as a callback for their end."""
    if not task.cancelled() and (error := task.exception()):
        end_at_once(error)


def _unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, MemoryError) or (error and "handle" in context):
        end_at_once(error)
    loop.default_exception_handler(context)


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    """The relay's threads sync the journal and make its segments."""
    end_at_once(failed.exc_value or SystemError("a thread failed"))
