"""``relaybook tail``: print the latest requests, one line each.

With ``--follow``, the command continues with new requests. With ``--sort``, the command prints the requests with the
highest values of a field, or with ``--order asc`` the lowest.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from relaybook.cli.failure import BadArgument
from relaybook.cli.output import Row, escape, one_line
from relaybook.cli.server_log import ServerLog
from relaybook.cli.source import open_log
from relaybook.cli.terms import hint, read_terms
from relaybook.log.numbers import UNKNOWN
from relaybook.log.query.filters import SORT_FIELDS, BadFilter, Sort, parse_sort
from relaybook.settings.configuration import Configuration

_NO_PRICE: Final = " To see why the cost of a request is unknown, run relaybook show with its id."


def tail(
    configuration: Configuration,
    filters: Sequence[str],
    *,
    lines: int,
    follow: bool = False,
    sort: str | None = None,
    order: str = "desc",
    only_ids: bool = False,
    as_json: bool = False,
) -> int:
    """Print requests, oldest first. Raises BadArgument and CommandFailed.

    With ``follow``, the function does not return. ``sort`` is the name of a field. With ``sort``, the requests with the
    highest values of this field are printed, highest first. With the order ``asc``, those with the lowest values are
    printed, lowest first.
    """
    terms = read_terms(filters)
    if sort is not None:
        try:
            parsed = parse_sort(sort, order)
        except BadFilter as error:
            raise BadArgument(f"--{error}") from None
        return _print_top(configuration, terms, parsed, lines, only_ids=only_ids, as_json=as_json)
    log = open_log(configuration)
    rows: Iterable[Row]
    if follow:
        rows, is_complete = log.follow(terms, lines), True
    else:
        found, is_complete = log.latest(terms, lines)
        # Programs read the ids, so the output has at most as many as asked for, including those of running requests.
        rows = found[-lines:] if only_ids else found
    printed = _print(_line(row, only_ids=only_ids, as_json=as_json) for row in rows)
    if not is_complete:
        _report_time_limit("older requests")
    elif not printed:
        query = escape(" and ".join(filters))
        reason = f"No request matches {query}." if query else "No requests yet."
        # A directory needs no message: --data names it, or ``open_log`` has printed it.
        source = f" The log was read from {log.name}." if isinstance(log, ServerLog) else ""
        print(f"{reason}{source}{hint(log, terms) if query else ''}", file=sys.stderr)
    return 0


def _print_top(
    configuration: Configuration, terms: list[tuple[str, str]], sort: Sort, lines: int, *, only_ids: bool, as_json: bool
) -> int:
    field = sort.field
    log = open_log(configuration)
    rows, is_complete = log.top(terms, sort, lines)
    printed = _print(_line(row, only_ids=only_ids, as_json=as_json) for row in rows)
    if not is_complete:
        _report_time_limit(f"requests with a {'lower' if sort.is_ascending else 'higher'} {field}")
    elif not printed:
        price = _NO_PRICE if field == "cost_usd" else ""
        print(f"No matching request has a value for {field}.{price}{hint(log, terms)}", file=sys.stderr)
    elif term := SORT_FIELDS[field].term:
        unknown = log.count_matching([*terms, (term, UNKNOWN)])
        if unknown:
            requests, are = ("1 request", "is") if unknown == 1 else (f"{unknown:,} requests", "are")
            print(f"{requests} with unknown {SORT_FIELDS[field].label} {are} not shown.", file=sys.stderr)
    return 0


def _report_time_limit(missing: str) -> None:
    message = f"The search reached its time limit, so {missing} may be missing."
    print(f"{message} Use a narrower filter, such as from=-1d.", file=sys.stderr)


def _line(row: Row, *, only_ids: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps(row)
    return escape(str(row["id"])) if only_ids else one_line(row)


def _print(lines: Iterable[str]) -> int:
    """Print each line as soon as it is available. Returns the number of lines."""
    count = 0
    for line in lines:
        count += 1
        print(line, flush=True)
    return count
