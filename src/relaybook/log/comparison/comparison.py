"""Compare two requests with their bodies, and return only what differs.

Both requests are compared in the common model of all APIs, so that a chat completion can be compared with a message of
Anthropic's API. The work is bounded, however large and different the requests are.
"""

from itertools import takewhile
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from relaybook.apis import BY_KIND
from relaybook.log.comparison.facts import FactDifference, compare_facts
from relaybook.log.comparison.messages import (
    Compared,
    MessageDifference,
    compare_messages,
    compared_message,
    compared_output,
)
from relaybook.log.comparison.sequences import Budget
from relaybook.log.comparison.values import ToolDifference, ValueDifference, compare_tools, compare_values
from relaybook.log.formats.conversation import Request, Response
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import BodyDamaged

#: Number of elements (messages, sections, clauses and words) that a comparison examines. Examining all of them takes
#: about 0.3 s.
_ELEMENTS: Final = 400_000
_SYSTEM: Final = ("system", "developer")
#: Fields of the body that are compared elsewhere.
_NO_PARAMETERS: Final = frozenset({"model", "tools", "user", "safety_identifier", "prompt_cache_key"})
_NOT_STORED: Final = {
    "no_bodies": "Not stored, because this request was logged without bodies.",
    "expired": "No longer stored, because the content of this request has expired.",
}
_NOT_READ: Final = "Relaybook does not read the bodies of this API."
Side = Literal["a", "b"]


class Missing(Struct):
    """A body that cannot be compared, and why."""

    side: Side
    body: Literal["request", "response"]
    message: str


class Differences(NamedTuple):
    """The differences between two requests. ``missing`` says what could not be compared."""

    facts: list[FactDifference]
    parameters: list[ValueDifference]
    system: list[MessageDifference]
    tools: list[ToolDifference]
    messages: list[MessageDifference]
    response: list[MessageDifference]
    missing: list[Missing]

    @property
    def same_request(self) -> bool | None:
        """Whether model, parameters, system prompt, tools and messages are equal. `None` if a body is missing."""
        names = {fact.name for fact in self.facts}
        if self.parameters or self.system or self.tools or self.messages or names & _OF_REQUEST:
            return False
        return None if any(each.body == "request" for each in self.missing) else True

    @property
    def same_response(self) -> bool | None:
        """Whether result and response are equal. `None` if a body is missing."""
        if self.response or any(fact.group == "result" for fact in self.facts):
            return False
        return None if any(each.body == "response" for each in self.missing) else True

    @property
    def summary(self) -> str:
        """Say in one or two sentences what differs."""
        properties = sum(fact.name.startswith("property.") for fact in self.facts)
        is_other_result = any(fact.name == "result" for fact in self.facts)
        parts = [
            ("result", is_other_result),
            *((fact.label, fact.group == "result" and not is_other_result) for fact in self.facts),
            *((fact.label, fact.group == "request") for fact in self.facts),
            ("namespace", any(fact.name == "namespace" for fact in self.facts)),
            (f"{properties} propert{'y' if properties == 1 else 'ies'}", properties > 0),
            (f"{len(self.parameters)} parameter{'s' * (len(self.parameters) != 1)}", bool(self.parameters)),
            ("system prompt", bool(self.system)),
            (f"{len(self.tools)} tool{'s' * (len(self.tools) != 1)}", bool(self.tools)),
            ("messages", bool(self.messages)),
            ("response", bool(self.response)),
        ]
        names = [name for name, differs in parts if differs]
        if names:
            return f"Differences (timing not counted): {', '.join(names)}."
        if self.missing:
            return "What could be compared is equal."
        only = _only(self.facts)
        return f"The requests are equal. {only}" if only else "The requests are equal."


_OF_REQUEST: Final = frozenset({"model", "kind", "method", "path", "query"})


def _only(facts: list[FactDifference]) -> str:
    """Say in a sentence which measured facts differ. Empty if none differs."""
    names = {
        "the timing": any(fact.group == "timing" for fact in facts),
        "the tokens": any(fact.name.endswith("_tokens") for fact in facts),
        "the cost": any(fact.name == "cost_usd" for fact in facts),
    }
    *first, last = [name for name, differs in names.items() if differs] or [""]
    if first:
        return f"Only {', '.join(first)} and {last} differ."
    return f"Only {last} differ{'s' * (last != 'the tokens')}." if last else ""


def compare(a: RequestView, b: RequestView) -> Differences:
    """Compare two requests with their bodies."""
    budget = Budget(_ELEMENTS)
    missing: list[Missing] = []
    (request_a, response_a), (request_b, response_b) = _read(a, "a", missing), _read(b, "b", missing)
    facts = compare_facts(a.record, b.record, response_a, response_b)
    differences = Differences(facts, [], [], [], [], [], missing)
    if request_a is not None and request_b is not None:
        system_a, messages_a = _divided(request_a)
        system_b, messages_b = _divided(request_b)
        parameters = compare_values(_parameters(request_a), _parameters(request_b), budget)
        differences.parameters.extend(_without_properties(parameters, facts))
        differences.system.extend(compare_messages(system_a, system_b, budget))
        differences.tools.extend(
            compare_tools(request_a.parameters.get("tools"), request_b.parameters.get("tools"), budget)
        )
        differences.messages.extend(compare_messages(messages_a, messages_b, budget))
    if response_a is not None and response_b is not None:
        outputs_a, outputs_b = (list(map(compared_output, each.outputs)) for each in (response_a, response_b))
        differences.response.extend(compare_messages(outputs_a, outputs_b, budget))
    return differences


def _read(view: RequestView, side: Side, missing: list[Missing]) -> tuple[Request | None, Response | None]:
    """Return request and response. A body that cannot be compared is `None`, and ``missing`` says why."""
    record = view.record
    reason = _NOT_STORED.get(record.body_state) or ("" if BY_KIND[record.kind].is_read else _NOT_READ)
    request = response = None
    if not reason:
        try:
            request, response = view.request(), view.response()
        except BodyDamaged as error:
            reason = f"The bodies cannot be read: {error}"
    if reason:
        missing += [Missing(side, "request", reason), Missing(side, "response", reason)]
        return None, None
    if request is None and not record.request_bytes:
        request = Request()
    if response is None and not record.response_bytes:
        response = Response()
    if request is None:
        missing.append(Missing(side, "request", _why_unread(view, "request")))
    elif request.omitted:
        missing.append(Missing(side, "request", f"{request.omitted:,} messages in the middle are not compared."))
    if response is None:
        missing.append(Missing(side, "response", _why_unread(view, "response")))
    elif view.is_running:
        missing.append(Missing(side, "response", "The request is still running. Its response so far is compared."))
    return request, response


def _why_unread(view: RequestView, body: Literal["request", "response"]) -> str:
    if view.is_running and view.size(body) is None:
        return f"The {body} body of a running request cannot be read yet."
    return f"The {body} body cannot be read, because it is too large or its encoding is unknown or damaged."


def _divided(request: Request) -> tuple[list[Compared], list[Compared]]:
    """Return the system prompt, which is at the beginning, and the other messages."""
    system = list(takewhile(lambda message: message.role in _SYSTEM, request.messages))
    return list(map(compared_message, system)), list(map(compared_message, request.messages[len(system) :]))


def _parameters(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.parameters.items() if name not in _NO_PARAMETERS}


def _without_properties(parameters: list[ValueDifference], facts: list[FactDifference]) -> list[ValueDifference]:
    """Leave out metadata that became properties, whose differences are facts."""
    properties = {fact.name.removeprefix("property.").lower() for fact in facts if fact.name.startswith("property.")}
    prefix = "metadata."
    return [
        each
        for each in parameters
        if not (each.name.startswith(prefix) and each.name.removeprefix(prefix).lower() in properties)
    ]
