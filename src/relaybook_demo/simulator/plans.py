"""Plan the bytes, the timing and the end of a response. This module uses no socket and does not wait."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relaybook_demo.simulator.contents import Content, content_of
from relaybook_demo.simulator.directive_values import After, Break, PacedWrites
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.framing import Framing, ResponseContext, declared_length, framing_of, head_of, tail_of
from relaybook_demo.simulator.heads import interim_head

KEEP = After("keep", 0.0)
CLOSE = After("close", 0.0)


@dataclass(slots=True, kw_only=True)
class Plan:
    """A response that is ready to be delivered.

    ``parts`` are the content. The delivery adds the framing, and ``tail`` ends the body.
    """

    head: bytes
    parts: Iterable[bytes] = ()
    framing: Framing = "none"
    tail: bytes = b""
    interim: tuple[bytes, ...] = ()
    delay_ms: float = 0.0
    first_ms: float = 0.0
    interval_ms: float = 0.0
    head_writes: PacedWrites | None = None
    body_writes: PacedWrites | None = None
    break_: Break | None = None
    after: After = KEEP

    @property
    def is_single_write(self) -> bool:
        """Whether one write can send the response.

        The response must have at most one part, and no chunks, delays, interim responses or breaks.
        """
        is_timed = self.delay_ms or self.first_ms or self.interval_ms or self.body_writes or self.head_writes
        is_special = self.interim or self.break_ or self.after.ending == "rst" or self.framing == "chunked"
        return isinstance(self.parts, list | tuple) and len(self.parts) <= 1 and not is_timed and not is_special


def plan_response(context: ResponseContext, now_ns: Callable[[], int]) -> Plan:
    """Return the plan for a reply. For ``Sim-Timestamps``, ``now_ns`` is called when an event is written."""
    directives = context.directives
    content = content_of(context.reply, directives, now_ns)
    framing = framing_of(context, content)
    plan = Plan(
        head=head_of(context, content, framing),
        parts=content.parts if context.has_body else (),
        framing=framing if context.has_body else "none",
        interim=tuple(interim_head(code) for code in directives.interim),
        delay_ms=directives.delay_ms,
        head_writes=directives.head_piece,
        body_writes=directives.piece,
        break_=directives.break_,
    )
    plan.tail = tail_of(directives, plan.framing)
    plan.after = _connection_end(context, plan.framing, content)
    _set_delays(plan, context, content)
    return plan


def plan_raw(raw: bytes, directives: Directives) -> Plan:
    """Return a plan that writes exactly these bytes."""
    return Plan(
        head=b"",
        parts=[raw] if raw else [],
        delay_ms=directives.delay_ms,
        body_writes=directives.piece,
        break_=directives.break_,
        after=directives.after or CLOSE,
    )


def _set_delays(plan: Plan, context: ResponseContext, content: Content) -> None:
    """Set the delays between the events of a stream, or before the head of a response that is not streamed."""
    if content.is_stream:
        plan.first_ms = context.first_token_ms
        interval_ms = context.directives.event_interval_ms
        plan.interval_ms = context.token_ms if interval_ms is None else interval_ms
    elif context.reply.output_tokens:
        plan.delay_ms += context.first_token_ms + context.token_ms * context.reply.output_tokens


def _connection_end(context: ResponseContext, framing: Framing, content: Content) -> After:
    """Return the action on the connection after the response.

    If the body is shorter than declared, the connection is closed.
    """
    if context.directives.after is not None:
        return context.directives.after
    is_short = framing == "length" and declared_length(context.directives, content) > (content.length or 0)
    return CLOSE if context.closes_connection or framing == "close" or is_short else KEEP
