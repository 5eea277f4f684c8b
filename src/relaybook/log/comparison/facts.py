"""Compare the facts of two requests: results, models, namespaces, properties, routes, timing, tokens and cost."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from relaybook.log.finish_reasons import finish_of
from relaybook.log.formats import lenient
from relaybook.log.formats.conversation import Response
from relaybook.log.numbers import tokens_per_second_of
from relaybook.log.record import Record
from relaybook.log.row import result_of

Group = Literal["result", "request", "tags", "timing", "usage"]

#: The fields of a record that are compared, by group, with their labels.
FIELDS: Final[dict[Group, dict[str, str]]] = {
    "result": {
        "error_code": "error code",
        "error_message": "error message",
        "finish_reason": "finish reason",
        "stream_ended": "end of stream",
    },
    "request": {
        "model": "model",
        "response_model": "model in the response",
        "kind": "API",
        "method": "method",
        "path": "path",
        "query": "query",
        "route": "route",
        "upstream": "upstream",
        "key": "API key",
        "user_agent": "client",
        "user": "user",
        "session": "session",
        "safety_identifier": "safety identifier",
        "prompt_cache_key": "prompt cache key",
        "retry_count": "retries by the SDK",
    },
    "tags": {"namespace": "namespace"},
    "timing": {"duration_ms": "duration", "first_token_ms": "first token"},
    "usage": {
        "input_tokens": "input tokens",
        "cached_tokens": "cached tokens",
        "output_tokens": "output tokens",
        "reasoning_tokens": "reasoning tokens",
        "cost_usd": "cost",
    },
}
#: Facts that only a response has. They are compared only if both responses have them.
_OF_RESPONSE: Final = frozenset(
    (
        *("finish_reason", "stream_ended", "response_model", "service_tier", "system_fingerprint"),
        *("first_token_ms", "tokens_per_second", *FIELDS["usage"]),
    )
)


class FactDifference(Struct):
    """A fact that differs. `null` means that it is unknown or does not apply."""

    group: Group
    name: Annotated[
        str,
        Meta(
            description="Name of the field: a field of `Row`, `property.<name>`, `result`, `tokens_per_second`, "
            "`service_tier` or `system_fingerprint`."
        ),
    ]
    label: Annotated[str, Meta(description="The name for people.")]
    a: Any
    b: Any


def compare_facts(
    a: Record, b: Record, response_a: Response | None, response_b: Response | None
) -> list[FactDifference]:
    """Return the facts that differ, by group. Ids and times of day are not compared.

    A response of `None` cannot be read.
    """
    facts_a, facts_b = (
        {(group, name): (label, value) for group, name, label, value in _facts(record, response)}
        for record, response in ((a, response_a), (b, response_b))
    )
    differences = []
    for group, name in sorted(facts_a | facts_b, key=lambda key: list(FIELDS).index(key[0])):
        (label, before), (also, after) = (facts.get((group, name), ("", None)) for facts in (facts_a, facts_b))
        is_unknown = name in _OF_RESPONSE and None in (before, after)
        if before != after and not is_unknown and not (name == "finish_reason" and _finished_alike(a, b)):
            differences.append(FactDifference(group, name, label or also, before, after))
    return differences


def _finished_alike(a: Record, b: Record) -> bool:
    """Return whether the finish reasons of two APIs have the same meaning, such as ``stop`` and ``end_turn``."""
    is_known = a.kind != b.kind and a.finish_reason is not None and b.finish_reason is not None
    return is_known and finish_of(a.finish_reason) == finish_of(b.finish_reason)


def _facts(record: Record, response: Response | None) -> Iterator[tuple[Group, str, str, Any]]:
    yield "result", "result", "result", result_of(record).text
    for group, fields in FIELDS.items():
        for name, label in fields.items():
            yield group, name, label, getattr(record, name)
    for name, value in sorted(record.properties.items()):
        yield "tags", f"property.{name}", name, value
    speed = tokens_per_second_of(record)
    yield "timing", "tokens_per_second", "tokens/s", None if speed is None else round(speed, 1)
    if response is not None:
        yield "request", "service_tier", "service tier", response.tier
        fingerprint = response.other.get("system_fingerprint")
        yield "request", "system_fingerprint", "system fingerprint", lenient.text_or_none(fingerprint)
