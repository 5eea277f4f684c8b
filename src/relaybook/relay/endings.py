"""Every way an exchange ends but the good one: what the caller gets then, and what the record says.

Before the answer's head has gone the caller gets an answer of ours; after it a broken answer that cannot be taken for
a whole one. Each function may be called at any time and does nothing to an exchange that has closed.
"""

from relaybook.errors import RelayError
from relaybook.journal.events import Answered, encode_event
from relaybook.journal.frame import Kind
from relaybook.kinds import kind_of
from relaybook.relay import refuse
from relaybook.relay.exchange import Answer, Exchange

_STOPPED = "Relaybook stopped before the answer was complete."


def fail(exchange: Exchange, error: RelayError, message: str) -> None:
    """The provider failed us."""
    if exchange.closed or exchange.answer == Answer.DONE:
        return
    exchange.drop_provider()
    answer, exchange.answer = exchange.answer, Answer.DONE
    if exchange.down is None:  # read on for the log only
        exchange.close("client_closed", error.code, message)
        return
    code = error.code
    if answer == Answer.WAITING:
        _send_error_response(exchange, error, message)
    else:
        code = RelayError.UPSTREAM_STREAM_INTERRUPTED.code if _takes_our_event(exchange) else code
        _break(exchange, message)
    exchange.close("upstream_failed", code, message)


def refuse_admitted(exchange: Exchange, error: RelayError, message: str) -> None:
    """The caller broke a rule after admission. An answer that is complete already still goes out."""
    if exchange.closed or exchange.answer == Answer.DONE:
        return
    exchange.drop_provider()
    answer, exchange.answer = exchange.answer, Answer.DONE
    down = exchange.down
    if down is not None:
        down.keep_alive = False
        if answer == Answer.WAITING:
            _send_error_response(exchange, error, message)
        else:
            exchange.relay.gate.then(down.cut, b"")
    exchange.close("refused", error.code, message)


def refuse_large(exchange: Exchange, size: int) -> None:
    """The request's body has so many bytes, or more: too many."""
    message = refuse.body_too_large(size, exchange.relay.settings.max_request_bytes)
    refuse_admitted(exchange, RelayError.REQUEST_TOO_LARGE, message)


def caller_gone(exchange: Exchange) -> None:
    """The caller's connection is lost. The provider is told at once, or read to the end by choice."""
    exchange.down = None
    if exchange.closed:
        return
    on_its_way = exchange.answer != Answer.DONE and (exchange.up is not None or exchange.dial is not None)
    if exchange.relay.settings.on_client_gone == "finish" and exchange.request_complete and on_its_way:
        if exchange.up is not None:
            exchange.up.feed_when(True)
        return
    exchange.drop_provider()
    exchange.close("client_closed")


def interrupt(exchange: Exchange) -> None:
    """We stop: both sides are told."""
    if exchange.closed:
        return
    exchange.drop_provider()
    answer, exchange.answer = exchange.answer, Answer.DONE
    down = exchange.down
    if down is not None:
        down.keep_alive = False
        if answer == Answer.WAITING:
            _send_error_response(exchange, RelayError.SHUTTING_DOWN, _STOPPED)
        elif answer == Answer.ANSWERING:
            _break(exchange, _STOPPED)
        else:
            exchange.relay.gate.then(down.cut, b"")
    exchange.close("interrupted", RelayError.SHUTTING_DOWN.code, _STOPPED)


def abandon(exchange: Exchange) -> None:
    """The journal has a hole in this exchange: nothing more is said, both connections are reset."""
    down, exchange.down = exchange.down, None
    exchange.drop_provider()
    exchange.close("interrupted", RelayError.LOG_UNAVAILABLE.code, "The journal could not be written.")
    if down is not None:
        down.abandon()


def _takes_our_event(exchange: Exchange) -> bool:
    """Whether an error event of ours makes sense in this answer: an event stream on a path that is understood."""
    is_stream = exchange.framing is not None and exchange.framing.is_event_stream
    return is_stream and kind_of(exchange.route.below(exchange.target)) in ("chat", "completion", "response")


def _break(exchange: Exchange, message: str) -> None:
    """After the head has gone: an error event between two events of a stream, and never a clean end."""
    down, framing = exchange.down, exchange.framing
    if down is None or framing is None:
        return
    down.keep_alive = False
    head = framing.wire(b"")
    if head:
        down.send(head)
    if framing.between_events and _takes_our_event(exchange):
        event = refuse.stream_error_event(message)
        exchange.frame(Kind.MADE, exchange.id, event)
        down.send(framing.wire(event))
    exchange.relay.gate.then(down.cut, b"")


def _send_error_response(exchange: Exchange, error: RelayError, message: str) -> None:
    down = exchange.down
    if down is None:
        return
    body = refuse.error_json(error, message, exchange.relay.log_url(exchange.id_text))
    lines = refuse.error_lines(error, body, exchange.tags.prefix, exchange.id_text)
    exchange.frame(
        Kind.ANSWERED, exchange.id, encode_event(Answered(error.status, b"", b"\r\n".join(lines), made=True))
    )
    exchange.frame(Kind.MADE, exchange.id, body)
    if not exchange.request_complete or exchange.relay.leaving:
        down.keep_alive = False
    lines.append(exchange.our_headers)
    if not down.keep_alive:
        lines.append(b"Connection: close")
    head = b"\r\n".join([refuse.status_line(error.status), *lines, b"", b""])
    down.send(head if exchange.method == b"HEAD" else head + body)
    exchange.relay.gate.then(down.handed_over, b"")
