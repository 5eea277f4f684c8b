"""End exchanges that do not complete: what the client receives, and what is recorded.

If the head of the response was not sent yet, the client gets an error response. After it, the response is broken off so
that the client cannot take it for complete. Each function can be called at any time and does nothing to a closed
exchange.
"""

from relaybook.errors import RelayError
from relaybook.journal.events import Answered, encode_event
from relaybook.journal.frame import FrameKind
from relaybook.kinds import STREAMED_KINDS, kind_of
from relaybook.relay import refuse
from relaybook.relay.exchange import Exchange, ResponseState

_STOPPED = "Relaybook stopped before the response was complete."


def fail(exchange: Exchange, error: RelayError, message: str) -> None:
    """End an exchange whose upstream failed."""
    if exchange.closed or exchange.response_state == ResponseState.DONE:
        return
    exchange.drop_upstream()
    response_state, exchange.response_state = exchange.response_state, ResponseState.DONE
    if exchange.client is None:  # the response was read for the log only
        exchange.close("client_closed", error.code, message)
        return
    code = error.code
    if response_state == ResponseState.WAITING:
        _send_error_response(exchange, error, message)
    else:
        code = RelayError.UPSTREAM_STREAM_INTERRUPTED.code if _supports_error_event(exchange) else code
        _cut_stream(exchange, message)
    exchange.close("upstream_failed", code, message)


def refuse_admitted(exchange: Exchange, error: RelayError, message: str) -> None:
    """End an admitted exchange that exceeds a limit or is malformed. A response that is complete is still sent."""
    if exchange.closed or exchange.response_state == ResponseState.DONE:
        return
    exchange.drop_upstream()
    response_state, exchange.response_state = exchange.response_state, ResponseState.DONE
    client = exchange.client
    if client is not None:
        client.keep_alive = False
        if response_state == ResponseState.WAITING:
            _send_error_response(exchange, error, message)
        else:
            exchange.relay.gate.then(client.cut, b"")
    exchange.close("refused", error.code, message)


def refuse_large(exchange: Exchange, size: int) -> None:
    """End an exchange whose request body is too large: ``size`` bytes, or more."""
    message = refuse.body_too_large(size, exchange.relay.settings.max_request_bytes)
    refuse_admitted(exchange, RelayError.REQUEST_TOO_LARGE, message)


def client_gone(exchange: Exchange) -> None:
    """End an exchange whose client connection is lost.

    With ``on_client_gone = finish`` the response is read to its end for the log; otherwise the upstream connection is
    closed at once.
    """
    exchange.client = None
    if exchange.closed:
        return
    on_its_way = exchange.response_state != ResponseState.DONE and (
        exchange.upstream is not None or exchange.dial is not None
    )
    if exchange.relay.settings.on_client_gone == "finish" and exchange.request_complete and on_its_way:
        if exchange.upstream is not None:
            exchange.upstream.set_reading(True)
        return
    exchange.drop_upstream()
    exchange.close("client_closed")


def interrupt(exchange: Exchange) -> None:
    """End an exchange because the relay stops."""
    if exchange.closed:
        return
    exchange.drop_upstream()
    response_state, exchange.response_state = exchange.response_state, ResponseState.DONE
    client = exchange.client
    if client is not None:
        client.keep_alive = False
        if response_state == ResponseState.WAITING:
            _send_error_response(exchange, RelayError.SHUTTING_DOWN, _STOPPED)
        elif response_state == ResponseState.STARTED:
            _cut_stream(exchange, _STOPPED)
        else:
            exchange.relay.gate.then(client.cut, b"")
    exchange.close("interrupted", RelayError.SHUTTING_DOWN.code, _STOPPED)


def abandon(exchange: Exchange) -> None:
    """End an exchange of which journal frames were lost: nothing more is sent, and both connections are reset."""
    client, exchange.client = exchange.client, None
    exchange.drop_upstream()
    exchange.close("interrupted", RelayError.LOG_UNAVAILABLE.code, "The journal could not be written.")
    if client is not None:
        client.abandon()


def _supports_error_event(exchange: Exchange) -> bool:
    """Return whether the response can carry an error event: it is an event stream, and the API is a supported one."""
    is_stream = exchange.framing is not None and exchange.framing.is_event_stream
    return is_stream and kind_of(exchange.route.below(exchange.target)) in STREAMED_KINDS


def _cut_stream(exchange: Exchange, message: str) -> None:
    """Break off a response whose head was sent, with an error event if one fits. It never ends cleanly."""
    client, framing = exchange.client, exchange.framing
    if client is None or framing is None:
        return
    client.keep_alive = False
    head = framing.encode(b"")
    if head:
        client.send(head)
    if framing.between_events and _supports_error_event(exchange):
        event = refuse.stream_error_event(message)
        exchange.frame(FrameKind.MADE, exchange.id, event)
        client.send(framing.encode(event))
    exchange.relay.gate.then(client.cut, b"")


def _send_error_response(exchange: Exchange, error: RelayError, message: str) -> None:
    client = exchange.client
    if client is None:
        return
    body = refuse.error_json(error, message, exchange.relay.log_url(exchange.id_text))
    lines = refuse.error_lines(error, body, exchange.tags.prefix, exchange.id_text)
    exchange.frame(
        FrameKind.ANSWERED, exchange.id, encode_event(Answered(error.status, b"", b"\r\n".join(lines), made=True))
    )
    exchange.frame(FrameKind.MADE, exchange.id, body)
    if not exchange.request_complete or exchange.relay.retiring:
        client.keep_alive = False
    lines.append(exchange.relay_headers)
    if not client.keep_alive:
        lines.append(b"Connection: close")
    head = b"\r\n".join([refuse.status_line(error.status), *lines, b"", b""])
    client.send(head if exchange.method == b"HEAD" else head + body)
    exchange.relay.gate.then(client.response_sent, b"")
