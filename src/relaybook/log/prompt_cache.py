"""Say how much of a prompt the provider read from its cache, and why not more.

The provider states how many tokens it read from its cache. How many it could have read follows from the request before:
what was sent then and is sent again. Where it differs first, the cache ends. Numbers of tokens that are no counts of
the provider are estimates: characters in proportion to the input tokens.

Sources of the limits, November 2026: https://developers.openai.com/api/docs/guides/prompt-caching,
https://platform.claude.com/docs/en/build-with-claude/prompt-caching, https://ai.google.dev/gemini-api/docs/caching.
"""

from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Meta, Struct

from relaybook.log.formats.prompt import Prompt, PromptComparison, Section, compare
from relaybook.log.formats.prompt_change import PromptChange, change_of
from relaybook.log.formats.usage import counts_of
from relaybook.log.prices import InputRates
from relaybook.log.record import Record

State: TypeAlias = Literal["first", "cached", "broken", "not_cached", "unknown"]
Reason: TypeAlias = Literal[
    "not_stored",
    "not_stated",
    "too_short",
    "no_breakpoint",
    "expired",
    "perhaps_expired",
    "concurrent",
    "other_key",
    "other_parameter",
    "unexplained",
]

#: The prompt counts as cached if the provider read this share of what it could have read. It need not be all, because
#: providers cache in blocks of tokens, and because the number of tokens is an estimate. If the prompt changed, less may
#: be missing, because then there is a reason for it.
_ENOUGH: Final = 0.75
_ENOUGH_AFTER_CHANGE: Final = 0.9
_SECOND_US: Final = 1_000_000
#: The fewest tokens that are cached. For Claude and Gemini, the first name that the model's name contains decides.
_MINIMUM_OPENAI: Final = 1024
_MINIMUM_ANTHROPIC: Final = {
    **dict.fromkeys(("opus-5", "fable-5", "mythos-5"), 512),
    **dict.fromkeys(("opus-4-7", "opus-4.7", "3-haiku", "3-5-haiku", "haiku-3"), 2048),
    **dict.fromkeys(("opus-4-5", "opus-4.5", "opus-4-6", "opus-4.6", "haiku-4-5", "haiku-4.5"), 4096),
    "": 1024,
}
_MINIMUM_GOOGLE: Final = {"2.5": 2048, "": 4096}
#: OpenAI removes a prefix after 5 to 10 minutes without use, and after an hour in any case; or after a day.
_OPENAI_SOME_SECONDS: Final = 300
_OPENAI_SECONDS: Final = 3600
_OPENAI_LONG_SECONDS: Final = 86_400
_RETENTION: Final = "prompt_cache_retention"

_ESTIMATE: Final = "Estimated from the characters, in proportion to the input tokens."


class Exchange(NamedTuple):
    """A request to compare. ``usage`` and ``tier`` are from the response, and empty if it states none."""

    record: Record
    prompt: Prompt
    usage: dict[str, Any]
    tier: str | None


class SentSection(Struct, kw_only=True):
    """One section of a prompt."""

    section: Section
    items: Annotated[int, Meta(description="Number of tools, or of parts of messages.")]
    characters: int
    equal_characters: Annotated[
        int, Meta(description="Number of characters that are equal to those of the earlier request, from the start.")
    ]
    tokens: Annotated[int | None, Meta(description=_ESTIMATE)]
    breakpoints: Annotated[int, Meta(description="Number of breakpoints (`cache_control`).")]


class CacheReport(Struct, kw_only=True):
    """What a request sent again, what the provider read from its cache, and why not more.

    A count that is unknown is `null`, never 0.
    """

    id: str
    compared_with: Annotated[
        str | None,
        Meta(
            description="Id of the earlier request: the one that this request continues or repeats, or else the latest "
            "one of the same session or namespace, route and model whose prompt begins alike. `null` if there is none."
        ),
    ]
    seconds_between: Annotated[
        float | None, Meta(description="Time from the start of the earlier request to the start of this request.")
    ]
    state: Annotated[
        State,
        Meta(
            description="`first`: there is no earlier request. `cached`: the provider read nearly everything from its "
            "cache that it could. `broken`: it read less, because the prompt differs from the earlier one. "
            "`not_cached`: it read less, although the prompt does not differ, or is too short. `unknown`: it does not "
            "say, or the bodies are not stored."
        ),
    ]
    reason: Annotated[Reason | None, Meta(description="Why the state is `not_cached` or `unknown`, for programs.")]
    text: Annotated[str, Meta(description="The state and its reason in a sentence.")]
    input_tokens: int | None
    sent_again_tokens: Annotated[
        int | None, Meta(description=f"Tokens that the earlier request had sent, too. {_ESTIMATE}")
    ]
    equal_tokens: Annotated[
        int | None, Meta(description=f"Tokens from the start up to the first difference. {_ESTIMATE}")
    ]
    equal_characters: Annotated[
        int | None, Meta(description="Number of characters from the start up to the first difference.")
    ]
    cached_tokens: Annotated[
        int | None, Meta(description="Tokens that the provider read from its cache, as it states.")
    ]
    written_tokens: Annotated[
        int | None, Meta(description="Tokens that the provider wrote to its cache, as it states.")
    ]
    written_1h_tokens: Annotated[
        int | None, Meta(description="Those of the `written_tokens` that are kept for an hour.")
    ]
    lifetime_seconds: Annotated[
        int | None,
        Meta(description="How long the provider keeps the prompt of the earlier request, if this is known."),
    ]
    missed_tokens: Annotated[
        int | None,
        Meta(
            description="Tokens that could have been read from the cache, but were not. 0 if the state is `cached`. "
            "Estimated."
        ),
    ]
    missed_usd: Annotated[
        float | None,
        Meta(
            description="What the request cost more because of them: their price, minus their price if they had been "
            "read from the cache. `null` if a price is unknown."
        ),
    ]
    change: Annotated[
        PromptChange | None,
        Meta(description="Where the prompt first differs from the earlier one. `null` if it does not."),
    ]
    sent: Annotated[
        list[SentSection], Meta(description="The sections of the prompt, in the order in which they are cached.")
    ]


def report(before: Exchange | None, after: Exchange) -> CacheReport:
    """Compare a request with an earlier one. ``add_price`` adds the cost of the missed tokens."""
    record = after.record
    counts = counts_of(after.usage, record.kind, record.response_model)
    found = _blank(record)
    if counts.cache_writes or record.kind == "message":
        found.written_tokens = counts.cache_writes if after.usage else None
        found.written_1h_tokens = counts.others.get("cache_write_1h", 0) if after.usage else None
    compared = None if before is None else compare(before.prompt, after.prompt)
    found.sent = _sections(after, compared)
    if before is None or compared is None:
        return found
    found.compared_with = before.record.id
    found.seconds_between = (record.started_at - before.record.started_at) / _SECOND_US
    found.equal_characters = compared.equal_characters
    found.equal_tokens = _tokens(after, compared.equal_weight)
    found.sent_again_tokens = _tokens(after, compared.sent_again)
    if after.prompt.is_partial:
        _keep_stored(found, before.record)
    found.lifetime_seconds = _lifetime(before, after)
    if compared.is_broken:
        found.change = change_of(before.prompt, after.prompt, compared.equal)
    _judge(found, before, after, compared)
    return found


def add_price(found: CacheReport, rates: InputRates | None) -> None:
    """Set the cost of the missed tokens. ``rates`` are the prices of the input tokens, or `None` if unknown.

    Missed tokens that were written to the cache have the price of that. So they cost more than fresh tokens.
    """
    missed = found.missed_tokens
    if not missed or rates is None or rates.cached is None:
        return
    hour = min(missed, found.written_1h_tokens or 0)
    minutes = min(missed - hour, (found.written_tokens or 0) - hour)
    if (minutes and rates.cache_write is None) or (hour and rates.cache_write_1h is None):
        return
    usd = minutes * (rates.cache_write or 0.0) + hour * (rates.cache_write_1h or 0.0)
    usd += (missed - minutes - hour) * rates.input - missed * rates.cached
    found.missed_usd = round(max(usd, 0.0), 12)


def _keep_stored(found: CacheReport, before: Record) -> None:
    """Set what a request sends again whose earlier messages are stored by the provider: all of the earlier request.

    Their characters are not in the request, so they are unknown.
    """
    found.equal_characters = found.equal_tokens = found.sent_again_tokens = None
    if before.input_tokens is not None and found.input_tokens is not None:
        found.sent_again_tokens = min(before.input_tokens, found.input_tokens)


def not_stored(record: Record) -> CacheReport:
    """Return the report on a request whose body cannot be read."""
    found = _blank(record)
    found.state, found.reason = "unknown", "not_stored"
    found.text = "The request cannot be compared: it has no messages, or its body is not stored or cannot be read."
    return found


def _blank(record: Record) -> CacheReport:
    """Return the report on a request that is compared with nothing."""
    return CacheReport(
        id=record.id,
        compared_with=None,
        seconds_between=None,
        state="first",
        reason=None,
        text="There is no earlier request to compare with.",
        input_tokens=record.input_tokens,
        sent_again_tokens=None,
        equal_tokens=None,
        equal_characters=None,
        cached_tokens=record.cached_tokens,
        written_tokens=None,
        written_1h_tokens=None,
        lifetime_seconds=None,
        missed_tokens=None,
        missed_usd=None,
        change=None,
        sent=[],
    )


def _judge(found: CacheReport, before: Exchange, after: Exchange, compared: PromptComparison) -> None:
    """Set the state, the reason and the missed tokens."""
    cached = after.record.cached_tokens
    where = None if found.change is None else _changed(found.change)
    if cached is None or found.sent_again_tokens is None:
        found.state = "unknown" if where is None else "broken"
        found.reason = "not_stated"
        found.text = " ".join(filter(None, (where, "The response does not say how many tokens were cached.")))
        return
    has_breakpoints = min(before.prompt.marked, after.prompt.marked) > 0
    is_counted = has_breakpoints and not after.prompt.is_partial
    could = (_tokens(after, compared.cacheable) or 0) if is_counted else found.sent_again_tokens
    minimum = _minimum(after)
    if cached >= max(could, 1) * (_ENOUGH if where is None else _ENOUGH_AFTER_CHANGE):
        found.state, found.missed_tokens, found.missed_usd = "cached", 0, 0.0
        found.text = where or "The prompt begins like the earlier one, and was read from the cache."
    elif could < minimum:
        found.state, found.reason = "not_cached", "too_short"
        found.missed_tokens, found.missed_usd = 0, 0.0
        found.text = (
            f"Too short to cache: this provider caches prompts from {minimum:,} tokens."
            if minimum
            else "Nothing to cache."
        )
    elif not has_breakpoints:
        found.state, found.reason, found.missed_tokens = "not_cached", "no_breakpoint", could - cached
        found.text = "Nothing is cached, because not both requests have a breakpoint (cache_control)."
    elif where is not None and (found.equal_tokens or 0) < could * _ENOUGH_AFTER_CHANGE:
        found.state, found.missed_tokens, found.text = "broken", could - cached, where
    else:
        found.state, found.missed_tokens = "not_cached", could - cached
        found.reason, found.text = _why(found, before, after)


def _changed(change: PromptChange) -> str:
    """Say where a prompt changed, and what, unless it is just the text."""
    if change.character is None:
        return f"The prompt changed in {change.where}: {change.what}."
    place = change.where.removesuffix(f", character {change.character:,}")
    what = "" if change.kind == "text" else f": {change.what}"
    return f"{place[:1].upper()}{place[1:]} changed at character {change.character:,}{what}."


def _why(found: CacheReport, before: Exchange, after: Exchange) -> tuple[Reason, str]:
    """Return why an equal prompt was not read from the cache."""
    same = "The prompt begins like the earlier one, but"
    seconds = found.seconds_between or 0.0
    lifetime = found.lifetime_seconds
    if lifetime is not None and seconds > lifetime:
        return "expired", f"{same} that was {_span(seconds)} ago, and the provider keeps it for {_span(lifetime)}."
    if before.record.key != after.record.key:
        return "other_key", f"{same} it was sent with another API key. Organizations share no cache."
    names = before.prompt.hints.keys() | after.prompt.hints.keys()
    other = sorted(name for name in names if before.prompt.hints.get(name) != after.prompt.hints.get(name))
    if other:
        return "other_parameter", f"{same} {_list(other)} differ{'s' if len(other) == 1 else ''}."
    ready_ms = before.record.first_token_ms or before.record.duration_ms
    if ready_ms is not None and seconds * 1000 < ready_ms:
        return "concurrent", f"{same} its response had not begun when this request was sent."
    if after.prompt.vendor == "openai" and seconds > _OPENAI_SOME_SECONDS:
        return (
            "perhaps_expired",
            f"{same} that was {_span(seconds)} ago. OpenAI may remove it after 5 minutes without use.",
        )
    return "unexplained", f"{same} the provider did not find it: another machine may have answered, or it was removed."


def _tokens(exchange: Exchange, weight: int) -> int | None:
    total, tokens = exchange.prompt.total_weight, exchange.record.input_tokens
    return None if tokens is None else round(tokens * weight / total) if total else 0


def _sections(after: Exchange, compared: PromptComparison | None) -> list[SentSection]:
    sections: dict[Section, SentSection] = {}
    weights: dict[Section, int] = {}
    left = 0 if compared is None else compared.equal_characters
    for segment in after.prompt.segments:
        if segment.section in ("model", "parameters"):
            continue
        found = sections.setdefault(
            segment.section,
            SentSection(section=segment.section, items=0, characters=0, equal_characters=0, tokens=None, breakpoints=0),
        )
        found.items += 1
        found.characters += segment.characters
        equal = min(left, segment.characters)
        found.equal_characters += equal
        left -= equal
        found.breakpoints += segment.lifetime is not None
        weights[segment.section] = weights.get(segment.section, 0) + segment.weight
    for name, found in sections.items():
        found.tokens = _tokens(after, weights[name])
    return list(sections.values())


def _minimum(exchange: Exchange) -> int:
    """Return the fewest tokens that the provider caches. 0 if unknown."""
    names = (exchange.record.response_model or exchange.record.model or "").lower()
    match exchange.prompt.vendor:
        case "openai":
            return _MINIMUM_OPENAI
        case "anthropic":
            return next(number for name, number in _MINIMUM_ANTHROPIC.items() if name in names)
        case "google":
            return next(number for name, number in _MINIMUM_GOOGLE.items() if name in names)
        case _:
            return 0


def _lifetime(before: Exchange, after: Exchange) -> int | None:
    if after.prompt.vendor == "anthropic":
        return before.prompt.lifetime_seconds
    if after.prompt.vendor == "openai":
        is_long = before.prompt.hints.get(_RETENTION) == "24h"
        return _OPENAI_LONG_SECONDS if is_long else _OPENAI_SECONDS
    return None


def _span(seconds: float) -> str:
    """Return a time span in words, such as ``12 minutes``."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            number = round(seconds / length, 1)
            return f"{number:g} {unit}{'' if number == 1 else 's'}"
    return f"{seconds:.1f} seconds"


def _list(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
