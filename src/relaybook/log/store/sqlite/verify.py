"""Verify a store: the structure of the database and every body frame of every record, or only the newest rows."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import msgspec

from relaybook.ids import id_text
from relaybook.log.store.errors import BodyDamaged, StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Verification
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.other_fields import UNKNOWN, other_fields_of
from relaybook.log.store.sqlite.packs.bodies import decode_location
from relaybook.log.store.sqlite.packs.pack_reader import PackReader
from relaybook.log.store.sqlite.schema import is_created

_ROWS: Final = "SELECT seq, id, other_fields, bodies FROM requests WHERE seq > ? ORDER BY seq LIMIT 1000"
_MAX_PROBLEMS: Final = 10
#: ``length`` reads the header of a row, but not the pages to which a long row overflows.
_READ_ROWS: Final = "SELECT count(*), total(length(id)), total(length(bodies)) FROM requests WHERE seq > ?"
_MAX_NEWEST: Final = 100_000
_STRUCTURE: Final = f"PRAGMA integrity_check({_MAX_PROBLEMS})"


def verify(directory: Path, on_progress: Callable[[int, int], object]) -> Verification:
    """Check the database in a directory, and the body frames of every record.

    ``on_progress`` is called with the number of records checked so far and the total.

    A request whose data is removed or moved during the check is not reported as damaged. Raises StoreUnavailable if
    there is no log or the log cannot be read, and StoreDamaged if the database is too damaged to be checked.
    """
    path = directory / DATABASE
    with translated(path):
        if not path.exists():
            raise StoreUnavailable(f"{directory} does not contain a log. Choose the server's directory with --data.")
        connection = open_for_reading(directory)
        try:
            if not is_created(connection, str(path)):
                raise StoreUnavailable(f"{directory} does not contain a log yet.")
            packs = PackReader(directory, lambda: nullcontext(connection))
            problems = [text for (text,) in connection.execute(_STRUCTURE) if text != "ok"]
            total: int = connection.execute("SELECT value FROM totals WHERE name = 'records'").get
            records = damaged = last = 0
            while rows := list(connection.execute(_ROWS, (last,))):
                for seq, raw_id, other_fields, bodies in rows:
                    problem = _problem(packs, other_fields, bodies)
                    row = connection.execute("SELECT bodies FROM requests WHERE seq = ?", (seq,)).fetchone()
                    if problem and row is not None and row[0] == bodies:  # the data was not removed in the meantime
                        damaged += 1
                        problems.append(f"request {id_text(raw_id)}: {problem}")
                        del problems[_MAX_PROBLEMS:]
                records, last = records + len(rows), rows[-1][0]
                on_progress(records, max(total, records))
        finally:
            connection.close()
    return Verification(records=records, damaged=damaged, problems=problems)


def structure_damage(directory: Path) -> str | None:
    """Return the first problem with the structure of the database, or `None` if there is no problem.

    The whole database is read, but not the bodies. Raises StoreUnavailable and StoreDamaged.
    """
    with translated(directory / DATABASE):
        connection = open_for_reading(directory)
        try:
            problem: str = connection.execute("PRAGMA quick_check(1)").get
        finally:
            connection.close()
    return None if problem == "ok" else problem


def verify_newest(directory: Path, after: int) -> int:
    """Read the rows of requests with a ``seq`` above ``after`` from the disk, to find damage.

    At most the newest 100,000 rows are read. A new connection reads the rows, because an open connection would take
    pages from its cache. Bodies are not read. Returns the newest ``seq``. Raises apsw.Error, for example
    apsw.CorruptError if a page is damaged.
    """
    connection = open_for_reading(directory)
    try:
        connection.pragma("cell_size_check", True)
        newest: int = connection.execute("SELECT max(seq) FROM requests").get or 0
        connection.execute(_READ_ROWS, (max(after, newest - _MAX_NEWEST),)).fetchall()
    finally:
        connection.close()
    return newest


def _problem(packs: PackReader, other_fields: bytes, bodies: bytes | None) -> str | None:
    """Return the problem with a record's fields or body frames, or `None` if they are intact.

    ``bodies`` is the encoded location of the frames, from the table ``requests``.
    """
    if other_fields_of(other_fields) is UNKNOWN:
        return "the database value with some of the fields is damaged"
    try:
        location = decode_location(bodies)
        if location is None:
            return None
        packs.content(location)
        for ref in location.refs():
            packs.separate(ref)
    except msgspec.MsgspecError as error:
        return f"the database value with the location of the bodies is damaged: {error}"
    except (BodyDamaged, StoreUnavailable) as error:
        return str(error)
    return None
