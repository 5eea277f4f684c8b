"""Plans an answer: what is written, at which moments, and how it ends. No socket, no waiting."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relaybook_demo.simulator.contents import Content, content_of
from relaybook_demo.simulator.directive_values import After, Break, Pieces
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.framing import Case, Framing, declared_length, framing_of, head_of, tail_of
from relaybook_demo.simulator.heads import interim_head

KEEP = After("keep", 0.0)
CLOSE = After("close", 0.0)


@dataclass(slots=True, kw_only=True)
class Plan:
    """An answer ready to be delivered. ``parts`` are content; the delivery frames them, ``tail`` ends the framing."""

    head: bytes
    parts: Iterable[bytes] = ()
    framing: Framing = "none"
    tail: bytes = b""
    interim: tuple[bytes, ...] = ()
    delay_ms: float = 0.0
    first_ms: float = 0.0
    interval_ms: float = 0.0
    head_piece: Pieces | None = None
    piece: Pieces | None = None
    break_: Break | None = None
    after: After = KEEP

    @property
    def is_at_once(self) -> bool:
        """A small answer with nothing to wait for and nothing to break: one write will do."""
        is_timed = self.delay_ms or self.first_ms or self.interval_ms or self.piece or self.head_piece
        is_odd = self.interim or self.break_ or self.after.how == "rst" or self.framing == "chunked"
        return isinstance(self.parts, list | tuple) and len(self.parts) <= 1 and not is_timed and not is_odd


def plan_answer(case: Case, now_ns: Callable[[], int]) -> Plan:
    """The plan for a reply. ``now_ns`` is read when an event is made, if the wish asks for timestamps."""
    directives = case.directives
    content = content_of(case.reply, directives, now_ns)
    framing = framing_of(case, content)
    plan = Plan(
        head=head_of(case, content, framing),
        parts=content.parts if case.has_body else (),
        framing=framing if case.has_body else "none",
        interim=tuple(interim_head(code) for code in directives.interim),
        delay_ms=directives.delay_ms,
        head_piece=directives.head_piece,
        piece=directives.piece,
        break_=directives.break_,
    )
    plan.tail = tail_of(directives, plan.framing)
    plan.after = _after(case, plan.framing, content)
    _pace(plan, case, content)
    return plan


def plan_raw(raw: bytes, directives: Directives) -> Plan:
    """Exactly these bytes, whatever they are."""
    return Plan(
        head=b"",
        parts=[raw] if raw else [],
        delay_ms=directives.delay_ms,
        piece=directives.piece,
        break_=directives.break_,
        after=directives.after or CLOSE,
    )


def _pace(plan: Plan, case: Case, content: Content) -> None:
    """A stream has its pace between events; a whole answer waits as long before its head."""
    if content.is_stream:
        plan.first_ms = case.first_token_ms
        wished = case.directives.event_interval_ms
        plan.interval_ms = case.token_ms if wished is None else wished
    elif case.reply.output_tokens:
        plan.delay_ms += case.first_token_ms + case.token_ms * case.reply.output_tokens


def _after(case: Case, framing: Framing, content: Content) -> After:
    """A body that ends too early has to end somehow: with the connection."""
    if case.directives.after is not None:
        return case.directives.after
    is_short = framing == "length" and declared_length(case.directives, content) > (content.length or 0)
    return CLOSE if case.is_last or framing == "close" or is_short else KEEP
