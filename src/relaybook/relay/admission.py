"""The front: which requests are admitted, and the few answers the relay gives without a provider.

All checks of a head that need more than the head itself: routes, limits of load, the relay's state. Refusals raise
HeadRefused; nothing here writes.
"""

import re
from typing import Final

from relaybook.errors import RelayError
from relaybook.relay import refuse
from relaybook.relay.exchange import Exchange
from relaybook.relay.peers import Caller
from relaybook.relay.request_head import HeadRefused, RequestHead, check_target
from relaybook.relay.routes import Route
from relaybook.relay.shared import Shared
from relaybook.tags import Tags

#: Digits alone: 127.0.0.1.example is a name that anybody can have.
_LOOPBACK: Final = re.compile(rb"127(?:\.\d{1,10}){1,3}")


def read(relay: Shared, raw: bytes) -> RequestHead:
    """Reads a head and refuses what no route could make right. Raises HeadRefused."""
    head = relay.request_heads.read(raw)
    if head.method in (b"CONNECT", b"TRACE"):
        method = head.method.decode()
        raise HeadRefused(RelayError.METHOD_NOT_ALLOWED, f"{method} is not relayed: this is no tunnel.")
    if head.upgrade == b"websocket":
        raise HeadRefused(RelayError.NOT_SUPPORTED, "Websockets are not relayed: use the provider's address for them.")
    if head.expect and head.expect != b"100-continue":
        shown = head.expect[:40].decode("latin-1")
        raise HeadRefused(RelayError.EXPECTATION_FAILED, f"Expect is {shown!r}: only 100-continue is understood.")
    if head.host_at < 0 and not head.version_1_0:
        raise HeadRefused(RelayError.BAD_REQUEST, "The request has no Host header.")
    if not head.target.startswith(b"/") and head.target != b"*":
        _make_origin_form(head)
    _check_host(relay, head)
    return head


def _check_host(relay: Shared, head: RequestHead) -> None:
    if relay.host_names is not None and head.host:
        name = head.host.rpartition(b":")[0] if head.host.rpartition(b":")[2].isdigit() else head.host
        if name.lower() not in relay.host_names and not _LOOPBACK.fullmatch(name):
            shown = name.decode("latin-1")
            raise HeadRefused(
                RelayError.BAD_REQUEST,
                f"Host is {shown!r}, and this relay is bound to loopback: it accepts loopback names only, so that no "
                f"web page can use it. To allow the name: --hosts {shown}.",
            )


def _make_origin_form(head: RequestHead) -> None:
    """Takes the scheme and authority off an absolute target (RFC 9112 §3.2.2); they must be those of Host."""
    scheme, mark, rest = head.target.partition(b"://")
    authority, slash, path = rest.partition(b"/")
    if not mark or scheme.lower() not in (b"http", b"https"):
        raise HeadRefused(RelayError.BAD_REQUEST, "The request target is no path: it must begin with a slash.")
    if authority.lower() != head.host.lower():
        raise HeadRefused(RelayError.BAD_REQUEST, "The request target names another host than the Host header.")
    head.target = slash + path or b"/"


def admit(relay: Shared, down: Caller, head: RequestHead) -> Exchange | None:
    """The exchange of an admitted request; None when the front itself answers. Raises HeadRefused."""
    found = head.destination or _find_destination(relay, head)
    if found is None:
        return None
    if relay.draining:
        raise HeadRefused(RelayError.SHUTTING_DOWN, "Relaybook is stopping: try again in a second.", head.origin)
    most = relay.settings.max_in_flight
    if len(relay.exchanges) >= most:
        message = f"{most} requests are running, the most allowed (setting max_in_flight): try again in a second."
        raise HeadRefused(RelayError.OVERLOADED, message, head.origin)
    exchange = Exchange(relay, down, *found, head)
    if relay.log_trouble is not None:
        if relay.settings.when_log_fails == "refuse":
            raise HeadRefused(RelayError.LOG_UNAVAILABLE, f"{relay.log_trouble} Try again.", head.origin)
        exchange.stop_logging()
        exchange.our_headers += refuse.warning(exchange.tags.prefix, refuse.NOT_LOGGED, relay.log_trouble)
        relay.count_unlogged()
    if relay.cors is not None:
        exchange.our_headers += relay.cors.headers(head.origin)
    relay.exchanges[exchange.id] = exchange
    return exchange


def _find_destination(relay: Shared, head: RequestHead) -> tuple[Route, Tags] | None:
    """The route and the tags of a request; None for what the front answers itself. Raises HeadRefused."""
    if _is_preflight(relay, head):
        return None
    route = relay.route_of(head.target)
    if route is None:
        if answers(head):
            return None
        raise HeadRefused(RelayError.NOT_FOUND, _nothing_here(relay, head), head.origin)
    check_target(head.target)
    head.destination = route, route.tags.read(head.tags)
    return head.destination


def _is_preflight(relay: Shared, head: RequestHead) -> bool:
    return relay.cors is not None and head.method == b"OPTIONS" and bool(head.origin)


def answers(head: RequestHead) -> bool:
    """Whether the relay has an answer of its own for a target."""
    return head.method in (b"GET", b"HEAD") and head.target.partition(b"?")[0] in (b"/", b"/healthz", b"/readyz")


def answer(relay: Shared, head: RequestHead, *, is_last: bool) -> bytes:
    """Health, readiness, and what a person sees who opens the relay's address. ``is_last``: see ``refuse``."""
    if relay.cors is not None and _is_preflight(relay, head):
        return relay.cors.preflight(head.origin, head.preflight or b"*", is_last=is_last)
    path = head.target.partition(b"?")[0]
    status, text = 200, "ok\n"
    if path == b"/readyz":
        trouble = relay.not_ready()
        unlogged = f"ready, and requests are relayed unlogged: {relay.log_trouble}" if relay.log_trouble else "ready"
        status, text = (503, f"{trouble}\n") if trouble else (200, f"{unlogged}\n")
    elif path == b"/":
        base = relay.base_url
        text = f"This is Relaybook. Base URL: {base}\nEvery request is logged; the log is at {relay.dashboard_url}\n"
    return refuse.text_answer(status, text, head_only=head.method == b"HEAD", is_last=is_last)


def _nothing_here(relay: Shared, head: RequestHead) -> str:
    path = head.target.partition(b"?")[0][:80].decode("latin-1")
    if path.startswith(("/api", "/requests")):
        return f"{path} is not served here: the log is at {relay.dashboard_url}."
    return f"Nothing is served here: your base URL lacks /v1. Use {relay.base_url}"


def client_address(relay: Shared, peer: str, head: RequestHead) -> str:
    """Who called: the peer, or with trusted proxies the last untrusted address of X-Forwarded-For."""
    trusted = relay.settings.trusted_proxies
    if peer not in trusted:
        return peer
    for hop in reversed(head.forwarded_for.decode("latin-1").split(",")):
        address = hop.strip()
        if address and address not in trusted:
            return address[:64]
    return peer
