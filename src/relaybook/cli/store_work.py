"""Carry out a deletion or a reread in a data directory, or watch a running server carry it out."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import msgspec

from relaybook import clock
from relaybook.cli.failure import CommandFailed
from relaybook.log.ask.asker import Asker
from relaybook.log.prices import Prices
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable, until_writable
from relaybook.log.store.port import Reader, Store, Writer
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.passes.reread import RereadPass
from relaybook.recorder.passes.text import TextPass
from relaybook.recorder.property_sources import PropertySources
from relaybook.settings.definitions import Settings

_SLICE_NS: Final = 100_000_000
#: If the command has nothing to do for this long, it stops, because the deletion then only waits for the journal.
_IDLE_NS: Final = 2 * clock.NANOSECONDS
_POLL_SECONDS: Final = 0.5


def follow_deletion(store: Store, reader: Reader, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
    """See ``LogSource.follow_deletion``. Raises CommandFailed.

    If the store's writer can be opened, no server is running, so this function carries out the deletion.
    Otherwise, the server does, and this function only reads the state of the deletion.
    """
    try:
        writer = store.open_writer(lock_wait_s=0)
    except StoreUnavailable:
        try:
            yield from _watch(reader, deletion_id, waits=waits)
        except (StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(f"{error} The server continues the deletion.") from None
        return
    try:
        yield from _work(writer, TextPass(reader, store.open_text_index()), reader, deletion_id)
    except (StoreUnavailable, DeadlinePassed) as error:
        raise CommandFailed(f"{error} The deletion continues when relaybook serve starts.") from None
    finally:
        writer.close()


def follow_reread(store: Store, reader: Reader, reread_id: str, settings: Settings) -> Iterator[dict[str, Any]]:
    """See ``LogSource.follow_reread``. Raises CommandFailed.

    If the store's writer can be opened, no server is running, so this function carries out the reread. Otherwise, the
    server does, and this function only reads the state of the reread. ``settings`` have the prices and
    the sources of properties.
    """
    try:
        writer = store.open_writer(lock_wait_s=0)
    except StoreUnavailable:
        try:
            while (row := _reread_row(reader, reread_id))["state"] != "done":
                yield row
                time.sleep(_POLL_SECONDS)
            yield row
        except (StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(f"{error} The server continues the reread.") from None
        return
    text = TextPass(reader, store.open_text_index())
    entry_builder = EntryBuilder(Prices.of(settings), writer.read_body, PropertySources.of(settings))
    reread = RereadPass(writer, entry_builder)
    try:
        while (row := _reread_row(reader, reread_id))["state"] != "done":
            yield row
            until_ns = clock.monotonic_ns() + _SLICE_NS
            worked = text.work(until_ns)  # a filter with words waits until the index has all requests
            if not until_writable(partial(reread.work, until_ns)) and not worked:
                time.sleep(_POLL_SECONDS / 10)
        yield row
    except (StoreUnavailable, DeadlinePassed) as error:
        raise CommandFailed(f"{error} The reread continues when relaybook serve starts.") from None
    finally:
        writer.close()


def _reread_row(reader: Reader, reread_id: str) -> dict[str, Any]:
    reread = Asker(reader, clock.monotonic_ns()).find_reread(reread_id)
    if reread is None:
        raise CommandFailed(f"The reread {reread_id} is no longer in the log, because the store was replaced.")
    row: dict[str, Any] = msgspec.to_builtins(reread)
    return row


def _watch(reader: Reader, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
    while True:
        row = _row(reader, deletion_id)
        yield row
        if row["state"] == "done" or (row["state"] == "erasing" and not waits):
            return
        time.sleep(_POLL_SECONDS)


def _work(writer: Writer, text: TextPass, reader: Reader, deletion_id: str) -> Iterator[dict[str, Any]]:
    worked_ns = clock.monotonic_ns()
    while clock.monotonic_ns() - worked_ns < _IDLE_NS:
        until_ns = clock.monotonic_ns() + _SLICE_NS
        # index the remaining requests first, because a deletion by words waits until the index contains all requests
        worked = text.work(until_ns)
        worked = until_writable(partial(writer.delete, until_ns)) > 0 or worked
        is_busy = clock.monotonic_ns() >= until_ns
        if writer.run_maintenance(until_ns) or worked or is_busy:
            worked_ns = clock.monotonic_ns()
        else:
            time.sleep(_POLL_SECONDS / 10)
        row = _row(reader, deletion_id)
        yield row
        if row["state"] == "done":
            return
        if row["state"] != "erasing":  # do not stop: in a shared log, another recorder may be removing the requests
            worked_ns = clock.monotonic_ns()


def _row(reader: Reader, deletion_id: str) -> dict[str, Any]:
    deletion = Asker(reader, clock.monotonic_ns()).deletion(deletion_id)
    if deletion is None:
        raise CommandFailed(f"The deletion {deletion_id} is no longer in the log, because the store was replaced.")
    row: dict[str, Any] = msgspec.to_builtins(deletion)
    return row
