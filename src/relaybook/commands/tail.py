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
    configuration: Configuration, filters: Sequence[str], *, lines: int, follow: bool = False, as_json: bool = False
) -> int:
    """Prints oldest first. Ends by itself without ``follow``. Raises BadArgument and CommandFailed."""
    terms = read_terms(filters)
    log = open_log(configuration)
    shown = _print_rows(log.follow(terms, lines) if follow else log.latest(terms, lines), as_json)
    if not shown:
        asked = " and ".join(filters)
        print(f"No request where {asked}.{hint(log, terms)}" if asked else "No request yet.", file=sys.stderr)
    return 0


def _print_rows(rows: Iterable[Row], as_json: bool) -> int:
    """How many there were."""
    shown = 0
    for row in rows:
        shown += 1
        print(json.dumps(row) if as_json else one_line(row, today()))
        sys.stdout.flush()
    return shown
