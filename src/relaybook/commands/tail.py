"""``relaybook tail``: prints the latest requests, one line each, and with ``--follow`` those that come."""

import json
import sys
from collections.abc import Iterable, Sequence

from relaybook.commands.filters import read_terms
from relaybook.commands.hints import hint
from relaybook.commands.source import open_log
from relaybook.commands.words import Row, one_line, today
from relaybook.configuration import Configuration


def tail(
    configuration: Configuration,
    filters: Sequence[str],
    *,
    lines: int,
    follow: bool = False,
    with_ids: bool = False,
    as_json: bool = False,
) -> int:
    """Prints oldest first. Ends by itself without ``follow``. Raises BadArgument and CommandFailed."""
    terms = read_terms(filters)
    log = open_log(configuration)
    rows = log.follow(terms, lines) if follow else log.latest(terms, lines)
    shown = _print(_line(row, with_ids=with_ids, as_json=as_json) for row in rows)
    if not shown:
        asked = " and ".join(filters)
        print(f"No request where {asked}.{hint(log, terms)}" if asked else "No request yet.", file=sys.stderr)
    return 0


def _line(row: Row, *, with_ids: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps(row)
    line = one_line(row, today())
    return f"{row['id']}  {line}" if with_ids else line


def _print(lines: Iterable[str]) -> int:
    """How many there were."""
    shown = 0
    for line in lines:
        shown += 1
        print(line, flush=True)
    return shown
