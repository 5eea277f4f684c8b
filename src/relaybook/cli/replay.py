"""``relaybook replay``: serve logged responses to the requests that got them."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.output import escape, plural
from relaybook.cli.progress import progress_bar
from relaybook.cli.source import LogSource, Terms, open_log, own_address
from relaybook.cli.terms import hint, lag_hint, read_terms
from relaybook.log.ask.replay import ReplayablePage
from relaybook.log.query.filters import BadFilter
from relaybook.log.record import Side
from relaybook.replay.connection import Pace
from relaybook.replay.replayer import Replayer
from relaybook.replay.server import serve
from relaybook.replay.source import LogUnreadable
from relaybook.server.listening import bind_error, listen
from relaybook.settings.addresses import split_address
from relaybook.settings.configuration import Configuration, flag_of
from relaybook.settings.definitions import is_utf8

_MAX_PATHS = 8


def replay(
    configuration: Configuration,
    filters: Sequence[str],
    *,
    address: str,
    speed: float,
    max_wait: float,
    only_id: str | None,
    ignore: Sequence[str],
) -> int:
    """Serve until stopped. Raises BadArgument and CommandFailed.

    With ``only_id``, each request gets the response of this request. ``ignore`` are fields of the JSON body.
    """
    host, port = split_address(address, "listen")
    for name, value in (("speed", speed), ("max_wait", max_wait)):
        if not 0 <= value < 1e9:
            raise BadArgument(f"{flag_of(name)} is {value}: expected 0 or a larger number.")
    if only_id is not None and filters:
        raise BadArgument("--id cannot be combined with filters. Remove one of them.")
    terms = read_terms(filters)
    log = open_log(configuration)
    only = None if only_id is None else _find(log, only_id)
    try:
        replayer = Replayer(_RecordedLog(log), terms, ignored=ignore, only_id=str(only["id"]) if only else None)
    except BadFilter as error:
        raise BadArgument(f"--{error}") from None
    try:
        listener = listen(host, port)
    except OSError as error:
        raise BadArgument(bind_error(address, "listen", error)) from None
    with listener:
        try:
            with progress_bar() as on_progress:
                replayer.read(lambda done: on_progress(done, None))
        except LogUnreadable as error:
            raise CommandFailed(str(error)) from None
        if filters and not len(replayer):
            raise CommandFailed(_none_found(log, replayer, terms, filters))
        pace = Pace(speed, max_wait)
        _report(log, replayer, only, pace)
        url = own_address(f"{host}:{listener.getsockname()[1]}")
        prefix = configuration.settings.header_prefix
        serve(
            listener,
            replayer,
            pace,
            prefix[0],
            lambda: print(f"Replaying on {_base_urls(url, replayer)}. Ctrl+C stops.", flush=True),
        )
    return 0


class _RecordedLog:
    """Implements ``RecordedLog``."""

    def __init__(self, log: LogSource) -> None:
        self._log = log

    def replayable(self, terms: Terms, after: int, ignored: list[str]) -> ReplayablePage:
        with _translated_errors():
            return self._log.replayable(terms, after, ignored)

    def find(self, text: str) -> dict[str, Any] | None:
        with _translated_errors():
            return self._log.find(text)

    def body(self, record_id: str, side: Side) -> bytes | None:
        with _translated_errors():
            return self._log.body(record_id, side)


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except CommandFailed as error:
        raise LogUnreadable(str(error)) from None


def _find(log: LogSource, any_id: str) -> dict[str, Any]:
    detail = log.find(any_id) if is_utf8(any_id) else None
    if detail is None:
        raise CommandFailed(f"No request in the log has the id {escape(any_id[:80])}.{lag_hint(log)}")
    return detail


def _base_urls(url: str, replayer: Replayer) -> str:
    """Return the URL of the default route, and those of the other routes that have logged requests."""
    mounts = dict.fromkeys(["/v1", *(path[: path.find("/", 1)] for _, path in replayer.paths if "/" in path[1:])])
    shown = [f"{url}{escape(mount)}" for mount in mounts]
    return ", ".join(shown if len(shown) <= _MAX_PATHS else [*shown[:_MAX_PATHS], "…"])


def _none_found(log: LogSource, replayer: Replayer, terms: Terms, filters: Sequence[str]) -> str:
    """Return the error message for a filter that selects no request that can be replayed."""
    query = " and ".join(filters)
    if not replayer.omitted:
        return (
            f"No request matches {query}.{hint(log, terms)} Change the filter, or omit it to replay all requests, also "
            "those that are logged later."
        )
    match = plural(replayer.omitted, "request matches", "requests match")
    return f"{match} {query}, but none can be replayed, because their bodies are not stored. Change the filter."


def _report(log: LogSource, replayer: Replayer, only: dict[str, Any] | None, pace: Pace) -> None:
    """Print which requests can be replayed. With ``only``, each request gets the response of this request."""
    if only is not None:
        print(f"Each request gets the response of {escape(only['id'])}.")
        if only["outcome"] == "client_closed" and pace.speed:
            print(
                "Its client left early. If the response is incomplete, the replay sends nothing for "
                f"{pace.max_wait:g} s after its last byte (--max-wait)."
            )
        return
    if not len(replayer):
        print(f"No request can be replayed yet.{lag_hint(log)}", file=sys.stderr)
    for (method, path), count in list(replayer.paths.items())[:_MAX_PATHS]:
        print(f"{count:>9,}  {method} {escape(path)}")
    if len(replayer.paths) > _MAX_PATHS:
        print(f"           and {len(replayer.paths) - _MAX_PATHS:,} more paths")
    if replayer.omitted:
        print(f"{replayer.omitted:>9,}  not replayed, because their bodies are not stored")
