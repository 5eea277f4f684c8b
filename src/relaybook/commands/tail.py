"""``relaybook tail``: prints the latest requests, one line each, and with ``--follow`` those that come."""

import json
import sys
from collections.abc import Iterable, Sequence

from relaybook import clock
from relaybook.commands.filters import read_terms
from relaybook.commands.source import open_log
from relaybook.commands.words import Row, one_line, today
from relaybook.configuration import Configuration
from relaybook.filter_parameters import parse_filter
from relaybook.filters import WORDS


def tail(
    configuration: Configuration, filters: Sequence[str], *, lines: int, follow: bool = False, as_json: bool = False
) -> int:
    """Prints oldest first. Ends by itself without ``follow``. Raises BadArgument and CommandFailed."""
    terms = read_terms(filters)
    log = open_log(configuration)
    shown = _print_rows(log.follow(terms, lines) if follow else log.latest(terms, lines), as_json)
    if not shown:
        asked = " and ".join(filters)
        hint = _star(terms) or _whole_words(terms)
        print(f"No request where {asked}.{hint}" if asked else "No request yet.", file=sys.stderr)
    return 0


def _whole_words(terms: Sequence[tuple[str, str]]) -> str:
    """A hint for who looked for a piece of a word."""
    terms_of_words = [term for term in parse_filter(terms, clock.wall_us()).terms if term.name == WORDS]
    words = [term.values[0] for term in terms_of_words if not term.negated]
    word = next((word for word in words if not word.endswith("*")), "")
    return f" Words are found whole: for a piece of text write 'contains:\"{word}\"' from=-1h." if word else ""


def _star(terms: Sequence[tuple[str, str]]) -> str:
    """A hint for who took ``name=value*`` for the beginning of a value."""
    name, value = next(((name, value) for name, value in terms if name != "q" and value.endswith("*")), ("", ""))
    written = f"-{name.removeprefix('not.')}" if name.startswith("not.") else name
    return f" After = a * is a plain character: write {written}:{value} for what begins so." if name else ""


def _print_rows(rows: Iterable[Row], as_json: bool) -> int:
    """How many there were."""
    shown = 0
    for row in rows:
        shown += 1
        print(json.dumps(row) if as_json else one_line(row, today()))
        sys.stdout.flush()
    return shown
