"""Compare two requests."""

from typing import Annotated

from msgspec import Meta, Struct

from relaybook.log.ask import detail
from relaybook.log.ask.fields import Row
from relaybook.log.comparison.comparison import Missing, compare
from relaybook.log.comparison.facts import FactDifference
from relaybook.log.comparison.messages import MessageDifference
from relaybook.log.comparison.values import ToolDifference, ValueDifference
from relaybook.log.row import to_json
from relaybook.log.store.port import Reader


class Comparison(Struct, kw_only=True):
    """Two requests, and only what differs between them. The lists of what does not differ are empty."""

    a: Row
    b: Row
    summary: Annotated[str, Meta(description="What differs, in one or two sentences.")]
    same_request: Annotated[
        bool | None,
        Meta(
            description="Whether API, model, parameters, system prompt, tools and messages are equal. `null` if a "
            "request body cannot be compared and everything else is equal."
        ),
    ]
    same_response: Annotated[
        bool | None,
        Meta(
            description="Whether result and response are equal. `null` if a response body cannot be compared and the "
            "results are equal."
        ),
    ]
    facts: Annotated[
        list[FactDifference],
        Meta(
            description="Results, models, keys, clients, namespaces, properties, routes, timing, tokens and cost that "
            "differ."
        ),
    ]
    parameters: Annotated[
        list[ValueDifference], Meta(description="Fields of the request bodies that differ, except the messages.")
    ]
    system: Annotated[
        list[MessageDifference],
        Meta(description="The system messages at the beginning. Empty if all of them are equal."),
    ]
    tools: Annotated[list[ToolDifference], Meta(description="Tools that differ, with their functions in one form.")]
    messages: Annotated[
        list[MessageDifference],
        Meta(description="The other messages: differences and runs of equal messages. Empty if all of them are equal."),
    ]
    response: Annotated[
        list[MessageDifference], Meta(description="The outputs of the responses. Empty if all of them are equal.")
    ]
    missing: Annotated[list[Missing], Meta(description="What could not be compared, and why.")]


def comparison(reader: Reader, any_id_a: str, any_id_b: str) -> Comparison:
    """Return the differences between two requests. Raises RequestNotFound."""
    a, b = (detail.view(reader, any_id)[0] for any_id in (any_id_a, any_id_b))
    found = compare(a, b)
    return Comparison(
        a=to_json(a.record),
        b=to_json(b.record),
        summary="A and B are the same request." if a.record.id == b.record.id else found.summary,
        same_request=found.same_request,
        same_response=found.same_response,
        **found._asdict(),
    )
