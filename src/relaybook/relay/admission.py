"""Decide which requests are admitted, and make the responses that need no upstream.

``request_head`` refuses malformed heads. This module checks the method, the Host header, the route, the number of
running requests and the state of the relay. If a request is refused, HeadRefused is raised. No function in this module
writes to a connection.
"""

from typing import Final

from relaybook.errors import RelayError
from relaybook.relay import response_lines
from relaybook.relay.context import RelayContext
from relaybook.relay.exchange import Exchange
from relaybook.relay.not_found import not_found_message
from relaybook.relay.origins import check_origin, is_loopback_name
from relaybook.relay.peers import Client
from relaybook.relay.request_head import HeadRefused, RequestHead, check_target
from relaybook.relay.routes import Destination, split_namespace
from relaybook.settings.client_address import client_address

#: Maximum number of API keys in a request. Each part of a body is searched for each key, to mask the key. A large
#: number of keys would slow down all requests.
_MAX_KEYS: Final = 16


def check(relay: RelayContext, head: RequestHead) -> None:
    """Make the checks that do not depend on the route. Raises HeadRefused."""
    if head.method in (b"CONNECT", b"TRACE"):
        method = head.method.decode()
        raise HeadRefused(RelayError.METHOD_NOT_ALLOWED, f"{method} is not supported.")
    if head.websocket:
        message = "WebSocket is not supported. Send the request over HTTP instead."
        raise HeadRefused(RelayError.UPGRADE_REQUIRED, message)
    if head.expect and head.expect != b"100-continue":
        shown = head.expect[:40].decode("latin-1")
        raise HeadRefused(RelayError.EXPECTATION_FAILED, f"Expect is {shown!r}: only 100-continue is supported.")
    if head.host_at < 0 and not head.version_1_0:
        raise HeadRefused(RelayError.BAD_REQUEST, "The request has no Host header, which HTTP/1.1 requires.")
    _check_host(relay, head)
    if len(head.keys) > _MAX_KEYS:
        raise HeadRefused(
            RelayError.BAD_REQUEST,
            f"The query and the headers have over {_MAX_KEYS} different API keys. Send only the keys that the upstream "
            "needs.",
        )


def _check_host(relay: RelayContext, head: RequestHead) -> None:
    if relay.host_names is not None and head.host:
        name = head.host.rpartition(b":")[0] if head.host.rpartition(b":")[2].isdigit() else head.host
        if name.lower() not in relay.host_names and not is_loopback_name(name):
            shown = name.decode("latin-1")
            raise HeadRefused(
                RelayError.BAD_REQUEST,
                f"Host {shown!r} is not allowed. This relay listens on a loopback address and accepts only loopback "
                "names, so that web pages cannot use the relay. To allow the name, start the relay with --hosts "
                f"{shown}.",
            )


def find_destination(relay: RelayContext, head: RequestHead) -> Destination | None:
    """Return the destination of a request, or `None` if the relay itself responds. Raises HeadRefused."""
    if _is_preflight(relay, head):
        return None
    namespace, target = split_namespace(head.target)
    route = relay.routes.find(target)
    if route is None:
        if has_own_response(head):
            return None
        raise HeadRefused(RelayError.NOT_FOUND, not_found_message(relay, target))
    check_target(target)
    if relay.host_names is not None:
        check_origin(head, relay.cors)
    return route.destination(head, target, namespace)


def admit(relay: RelayContext, client: Client, head: RequestHead, destination: Destination) -> Exchange:
    """Return the exchange of an admitted request. Raises HeadRefused."""
    if relay.draining:
        raise HeadRefused(RelayError.SHUTTING_DOWN, "Relaybook is shutting down. Try again in a second.")
    route = destination.route
    limit = route.limits.max_in_flight
    if route.running >= limit:
        message = (
            f"The route {route.name} has reached its limit of running requests, {limit} (setting max_in_flight). Try "
            "again in a second."
        )
        raise HeadRefused(RelayError.OVERLOADED, message)
    exchange = Exchange(relay, client, destination, head)
    if relay.log_problem is not None:
        if relay.settings.when_log_fails == "refuse":
            raise HeadRefused(RelayError.LOG_UNAVAILABLE, f"{relay.log_problem} Try again.")
        exchange.forward_without_record(relay.log_problem)
        relay.count_unlogged()
    if relay.cors is not None:
        exchange.add_relay_headers(relay.cors.headers(head.origin))
    relay.exchanges[exchange.id] = exchange
    route.running += 1
    return exchange


def _is_preflight(relay: RelayContext, head: RequestHead) -> bool:
    return relay.cors is not None and head.method == b"OPTIONS" and bool(head.origin)


def has_own_response(head: RequestHead) -> bool:
    """Return whether this is a request for `/healthz`, `/readyz` or `/`.

    The relay itself responds to such a request.
    """
    return head.method in (b"GET", b"HEAD") and head.target.partition(b"?")[0] in (b"/", b"/healthz", b"/readyz")


def own_response(relay: RelayContext, head: RequestHead, *, is_last: bool) -> bytes:
    """Return the response to a preflight, `/healthz`, `/readyz` or `/`.

    With ``is_last``, the connection closes after the response.
    """
    if relay.cors is not None and _is_preflight(relay, head):
        return relay.cors.preflight(head.origin, head.preflight or b"*", is_last=is_last)
    path = head.target.partition(b"?")[0]
    status, text = 200, "ok\n"
    if path == b"/readyz":
        problem = relay.not_ready()
        ready = f"ready, but requests are not logged. {relay.log_problem}" if relay.log_problem else "ready"
        status, text = (503, f"{problem}\n") if problem else (200, f"{ready}\n")
    elif path == b"/":
        others = "".join(
            f"Base URL of {route.name}: {route.base_url(relay.base_url)}\n" for route in relay.resolved[1:]
        )
        text = (
            f"This is Relaybook. Base URL: {relay.base_url}\n{others}"
            f"Every request is logged. The log is at {relay.dashboard_url}\n"
        )
    return response_lines.text_response(status, text, head_only=head.method == b"HEAD", is_last=is_last)


def address_of_client(relay: RelayContext, remote_address: str, head: RequestHead) -> str:
    """Return the client's address. If the remote address is a trusted proxy, X-Forwarded-For is used."""
    forwarded_for = head.forwarded_for.decode("latin-1")
    return client_address(remote_address, forwarded_for, relay.settings.trusted_proxies)
