"""``relaybook reread``: read the stored bodies of requests again, and replace the results in the log."""

import sys
from collections.abc import Sequence
from typing import Any

from relaybook import clock
from relaybook.cli.export import absolute_times
from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import plural
from relaybook.cli.progress import progress_bar
from relaybook.cli.source import LogSource, open_log
from relaybook.cli.terms import hint, read_terms
from relaybook.settings.configuration import Configuration


def reread(configuration: Configuration, filters: Sequence[str], *, is_confirmed: bool) -> int:
    """Read the matching requests again, and return when the log has the results. Raises CommandFailed."""
    terms = absolute_times(read_terms(filters), clock.wall_us())
    log = open_log(configuration)
    count = log.count_exactly(terms)
    if not count:
        matching = f"No request matches {' and '.join(filters)}." if filters else "The log has no requests."
        print(f"{matching}{hint(log, terms) if filters else ''}", file=sys.stderr)
        return 0
    if not is_confirmed:
        _ask(count, filters)
    _watch(log, log.request_reread(terms))
    return 0


def _ask(count: int, filters: Sequence[str]) -> None:
    """Ask for confirmation. Raises CommandFailed if the user does not confirm."""
    which = f" with {' and '.join(filters)}" if filters else ""
    question = f"Read {plural(count, 'request', 'requests')}{which} again? Their bodies do not change. [y/N] "
    try:
        answer = input(question)
    except EOFError:
        print()
        raise CommandFailed("Nothing was read. To read without confirmation, use --yes.") from None
    except KeyboardInterrupt:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise CommandFailed("Nothing was read.")


def _watch(log: LogSource, reread: dict[str, Any]) -> None:
    """Show the progress until the reread is done. Raises CommandFailed on Ctrl+C."""
    try:
        with progress_bar() as on_progress:
            for reread in log.follow_reread(reread["id"]):  # noqa: B020 - the last one is used below
                on_progress(reread["read"], reread["requests"])
    except KeyboardInterrupt:
        raise CommandFailed(
            f"This command has ended, but the reread {reread['id']} continues in the server. If no server is running, "
            "the reread continues when a server starts."
        ) from None
    read = plural(reread["read"], "request was", "requests were")
    changed = plural(reread["changed"], "request has", "requests have")
    print(f"{read} read again, and {changed} new results.")
