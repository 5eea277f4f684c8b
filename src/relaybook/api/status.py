"""Serve the state of Relaybook to users (/api/status), health checks (/healthz, /readyz) and Prometheus (/metrics)."""

import logging
from typing import Final

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.options import ApiOptions, LogMetrics, options_of
from relaybook.api.routes import Routes
from relaybook.api.status_schemas import (
    Health,
    JournalStatus,
    LogGap,
    RecorderStatus,
    RemovalRow,
    RetentionClock,
    RetentionStatus,
    RouteRow,
    Status,
    StorageStatus,
)
from relaybook.clock import format_timestamp
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.deletions import DeletionList
from relaybook.log.query.filters import Filter
from relaybook.log.record import Gap
from relaybook.log.retention import Removal, RequestTimes, Retention, removed_at
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.status import StoreStatus
from relaybook.settings.presets import BY_NAME
from relaybook.settings.routes import ResolvedRoute

routes = Routes("status")

MAX_GAPS: Final = 100
MAX_DELETIONS: Final = 10
#: The text format that all versions of Prometheus support.
_METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_log = logging.getLogger("relaybook.api")


@routes.get("/api/status", openapi.describe(Status))
async def get_status(request: Request) -> Response:
    """Return the state of Relaybook.

    The state includes the version, how much of the journal is not recorded yet, disk usage, retention, gaps and the
    effective settings without secrets.
    """
    arguments.only(arguments.pairs_of(request))
    options, signed_in = options_of(request), request.state.signed_in

    def question(asker: Asker) -> Status:
        running = len(asker.running(Filter()))
        log, store = options.probe.read(), asker.status()
        times = _request_times(asker, options.retention, store)
        retention = _retention(options.retention, log, store, asker.oldest_aggregates(), times)
        return _status(options, signed_in, log, store, running, asker.gaps(), retention, asker.deletions(MAX_DELETIONS))

    return Response(msgspec.json.encode(await async_asker_of(request).run(question)), media_type="application/json")


@routes.get("/healthz", openapi.describe(Health), accepts_head=True)
async def healthz(request: Request) -> Response:
    """Return 200 while the dashboard process is running."""
    return Response(msgspec.json.encode(Health(status="ok")), media_type="application/json")


@routes.get("/readyz", openapi.describe(Health), accepts_head=True)
async def readyz(request: Request) -> Response:
    """Return 200 if the log can be read, otherwise 503.

    This call needs no token, so the response has no details.
    """
    try:
        with anyio.fail_after(options_of(request).query_seconds):
            await async_asker_of(request).run(lambda asker: asker.last_seq())
    except Exception as error:
        _log.warning("not_ready", extra={"reason": repr(error)})
        raise ApiError("store_unavailable", "The log cannot be read.") from error
    return Response(msgspec.json.encode(Health(status="ready")), media_type="application/json")


@routes.get("/metrics", openapi.describe(None, media_type="text/plain"))
async def get_metrics(request: Request) -> Response:
    """Return metrics in the text format of Prometheus. See docs/reference/metrics.md."""
    probe = options_of(request).probe

    def question(asker: Asker) -> bytes:
        # Imported on the first scrape, so that importing prometheus_client does not delay startup.
        from relaybook.api.prometheus import render

        lost = _frames_lost(asker.gaps())
        return render(asker.status(), len(asker.running(Filter())), lost, probe.read())

    return Response(await async_asker_of(request).run(question), headers={"Content-Type": _METRICS_TYPE})


def _frames_lost(gaps: list[Gap]) -> int:
    """Return the number of damaged journal frames that could not be read."""
    return sum(gap.count for gap in gaps if gap.reason == "damaged")


def _request_times(asker: Asker, retention: Retention, store: StoreStatus) -> RequestTimes:
    """Return the times of the requests by pattern of namespaces. Empty if they cannot be read in time."""
    if store.oldest_at is None:
        return {}
    if not retention.by_pattern:
        return {None: (store.oldest_at, clock.wall_us())}
    try:
        return asker.request_times(retention.by_pattern)
    except DeadlinePassed:
        return {}


def _retention(
    retention: Retention, log: LogMetrics, store: StoreStatus, aggregates_at: int | None, times: RequestTimes
) -> RetentionStatus:
    general, days, content_at = retention.general, retention.aggregate_days, store.oldest_content_at
    next_content_at = retention.next_content_removal(times, content_at, clock.wall_us())
    next_aggregates_at = removed_at(aggregates_at, days) if days and aggregates_at is not None else None
    return RetentionStatus(
        bodies=_clock(general.body_days, content_at, next_content_at),
        requests=_clock(general.days, store.oldest_at, retention.next_removal(times)),
        aggregates=_clock(days, aggregates_at, next_aggregates_at),
        disk_budget_bytes=log.disk_budget_bytes,
        disk_used_bytes=log.disk_used_bytes,
        last_removal=None if store.last_removal is None else _removal(store.last_removal),
    )


def _removal(removal: Removal) -> RemovalRow:
    return RemovalRow(
        at=format_timestamp(removal.at), reason=removal.reason, requests=removal.requests, contents=removal.contents
    )


def _clock(days: int, oldest_at: int | None, next_at: int | None) -> RetentionClock:
    """Return the clock of one kind of data. ``next_at`` can be in the past if the data is being removed."""
    return RetentionClock(
        days=days,
        oldest_day=None if oldest_at is None else _day(oldest_at),
        next_removal=None if next_at is None else _day(max(next_at, clock.wall_us())),
    )


def _day(at_us: int) -> str:
    return format_timestamp(at_us)[:10]


def _status(
    options: ApiOptions,
    signed_in: bool,
    log: LogMetrics,
    store: StoreStatus,
    running: int,
    gaps: list[Gap],
    retention: RetentionStatus,
    deletions: DeletionList,
) -> Status:
    return Status(
        version=options.version,
        program=options.program,
        relay_base_url=options.relay_base_url,
        routes=[_route(each, options.relay_base_url) for each in options.routes],
        dashboard_url=options.dashboard_url,
        page_build=options.page.build if options.page else None,
        signed_in=signed_in,
        sample_data=options.sample_data,
        records=store.records,
        namespaces=store.namespaces,
        labels=store.labels,
        feedback=store.feedback,
        last_seq=store.last_seq,
        indexed_to=store.indexed_to,
        running=running,
        refused=store.refused,
        frames_lost=_frames_lost(gaps),
        journal=JournalStatus(lag_bytes=log.journal_lag_bytes, lag_seconds=log.journal_lag_seconds),
        recorders=[
            RecorderStatus(server=each.server, state="live" if each.is_live else "lost", lag_seconds=each.lag_us / 1e6)
            for each in store.recorders
        ],
        storage=StorageStatus(
            data_path=log.data_path,
            store_bytes=store.bytes_on_disk,
            disk_free_bytes=log.disk_free_bytes,
            days_left=log.days_left,
        ),
        retention=retention,
        deletions=deletions.data,
        gaps=[_gap(gap) for gap in gaps[:MAX_GAPS]],
        gap_count=len(gaps),
        settings=options.settings,
    )


def _route(route: ResolvedRoute, default_url: str) -> RouteRow:
    return RouteRow(
        name=route.name,
        base_url=route.base_url(default_url),
        upstream=route.upstream,
        preset=route.preset,
        variable=BY_NAME[route.preset].variable if route.preset else None,
    )


def _gap(gap: Gap) -> LogGap:
    return LogGap(
        from_at=format_timestamp(gap.from_at), to_at=format_timestamp(gap.to_at), count=gap.count, reason=gap.reason
    )
