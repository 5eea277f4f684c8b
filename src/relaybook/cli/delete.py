"""``relaybook delete``: show how many requests match a filter, and delete them."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from relaybook import clock
from relaybook.cli.export import absolute_times
from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.output import one_line, plural
from relaybook.cli.server_log import CountChanged
from relaybook.cli.source import LogSource, Terms, open_log
from relaybook.cli.terms import hint, lag_hint, read_terms
from relaybook.log.query.parameters import parse_filter
from relaybook.settings.configuration import Configuration

_SHOWN: Final = 5
#: To delete more than this many requests, the user must type the number of requests.
_MANY: Final = 1000
_NO_FILTER: Final = (
    "A filter is required, so that nothing is deleted by mistake. To delete all requests, write from=1970-01-01."
)


def delete(configuration: Configuration, filters: Sequence[str], *, is_confirmed: bool, waits: bool) -> int:
    """Delete the matching requests. Raises BadArgument and CommandFailed.

    With ``is_confirmed``, the command does not ask for confirmation. If a server is running, the command returns when
    the requests are removed from the log. With ``waits``, the command returns later, when the bytes of the requests are
    erased.
    """
    terms = _with_end(absolute_times(read_terms(filters), clock.wall_us()), clock.wall_us())
    log = open_log(configuration)
    count = log.count_exactly(terms)
    while not _delete(log, terms, count, filters, is_confirmed=is_confirmed, waits=waits):
        count = log.count_exactly(terms)
        print(f"The number of matching requests has changed. The new number is {count:,}.", file=sys.stderr)
    return 0


def _with_end(terms: Terms, now_us: int) -> Terms:
    """Add an end time to the terms, so that requests made after the command starts do not match.

    Terms that already have an end time, or whose start time is in the future, are returned unchanged. Raises
    BadArgument if there are no terms.
    """
    parsed = {term.name: term for term in parse_filter(terms, now_us).terms}
    if not parsed:
        raise BadArgument(_NO_FILTER)
    starts_later = "from" in parsed and int(parsed["from"].values[0]) >= now_us
    return terms if "to" in parsed or starts_later else [*terms, ("to", clock.format_timestamp(now_us))]


def _delete(
    log: LogSource, terms: Terms, count: int, filters: Sequence[str], *, is_confirmed: bool, waits: bool
) -> bool:
    """Show the requests, ask for confirmation, and delete them.

    Returns False, and deletes nothing, if the number of matching requests is no longer ``count``.
    """
    rows, _ = log.latest(terms, _SHOWN)
    running = sum(row["outcome"] == "open" for row in rows)
    if running:
        verbs = "matches is" if running == 1 else "match are"
        print(f"{_requests(running)} that {verbs} still running and will not be deleted.")
    if not count:
        print(f"No request matches {' and '.join(filters)}.{hint(log, terms)}", file=sys.stderr)
        return True
    if lag := lag_hint(log):
        print(f"{lag.strip()} These requests will not be deleted.", file=sys.stderr)
    if not is_confirmed:
        _show([one_line(row) for row in rows if row["outcome"] != "open"], count)
        _ask(count)
    try:
        deletion = log.request_deletion(terms, count)
    except CountChanged:
        return False
    _watch(log, terms, deletion, waits=waits)
    return True


def _requests(count: int) -> str:
    return plural(count, "request", "requests")


def _show(lines: list[str], count: int) -> None:
    print("\n".join(lines))
    if count > len(lines):
        print(f"… and {plural(count - len(lines), 'older request', 'older requests')}")


def _ask(count: int) -> None:
    """Ask for confirmation. Raises CommandFailed if the user does not confirm."""
    if count > _MANY:
        question, expected = f"To delete {_requests(count)}, type {count}: ", (str(count), f"{count:,}")
    else:
        question, expected = f"Delete {_requests(count)}? This cannot be undone. [y/N] ", ("y", "yes")
    try:
        answer = input(question)
    except EOFError:
        raise CommandFailed("Nothing was deleted. To delete without confirmation, use --yes.") from None
    except KeyboardInterrupt:
        answer = ""
    if answer.strip().lower() not in expected:
        raise CommandFailed("Nothing was deleted.")


def _watch(log: LogSource, terms: Terms, deletion: dict[str, Any], *, waits: bool) -> None:
    """Show the progress until the requests are removed, or with ``waits`` until the deletion is done.

    Raises CommandFailed on Ctrl+C. The id and the receipt are printed first, because the command may wait for minutes.
    """
    print(f"Deletion {deletion['id']} has started.", flush=True)
    if (url := log.receipt_url(deletion["id"], terms)) is not None:
        print(f"Receipt, whose address contains the filter: {url}", flush=True)
    try:
        with _progress(deletion["requests"]) as show:
            for deletion in log.follow_deletion(deletion["id"], waits=waits):  # noqa: B020 - the last one is used below
                show(deletion["removed"], deletion["state"])
    except KeyboardInterrupt:
        raise CommandFailed(
            f"This command has ended, but the deletion {deletion['id']} continues in the server. If no server is "
            "running, the deletion continues when a server starts."
        ) from None
    print(f"{_requests(deletion['removed'])} deleted.")
    print(f"Removed from the log at {deletion['removed_at']}, by deletion {deletion['id']}.")
    if deletion["state"] == "done":
        print(f"Erased at {deletion['done_at']}: no file of the log contains the bytes of these requests any more.")
    else:
        print(log.pending_text, file=sys.stderr)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int, str], None]]:
    """Show a progress bar if standard error is a terminal.

    Yields a function that takes the number of removed requests and the state of the deletion.
    """
    if not sys.stderr.isatty():
        yield lambda removed, state: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("removing", total=total)
        yield lambda removed, state: progress.update(task, completed=removed, description=state)
