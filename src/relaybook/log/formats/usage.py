"""Extract token counts from ``usage``, in which different providers use different field names."""

from relaybook.log.formats.facts import ResponseFacts, Usage

_INPUT = ("prompt_tokens", "input_tokens")
#: Names of top-level fields with the number of cached input tokens. DeepSeek and Moonshot send this number there
#: instead of in the details.
CACHED = ("prompt_cache_hit_tokens", "cached_tokens")
OUTPUT = ("completion_tokens", "output_tokens")
#: The name under which ``responses`` adds the billed web searches of a response to its usage.
WEB_SEARCHES = "web_search_requests"
_INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")


def set_usage(facts: ResponseFacts, usage: Usage) -> None:
    """Set usage and token counts of the facts. Counts that are missing, negative or not integers are `None`."""
    facts.usage = usage
    facts.input_tokens = count_of(usage, _INPUT)
    facts.output_tokens = output_of(usage)
    facts.cached_tokens = detail_of(usage, _INPUT_DETAILS, "cached_tokens")
    if facts.cached_tokens is None:
        facts.cached_tokens = count_of(usage, CACHED)
    facts.reasoning_tokens = _reasoning_of(usage)


def with_thinking(usage: Usage) -> Usage:
    """Return the usage of a Gemini model, with the tokens of its thinking as reasoning tokens.

    In the format of OpenAI, Google counts these tokens only in the total.
    """
    counts = [count_of(usage, names) for names in (("total_tokens",), _INPUT, OUTPUT)]
    total, *others = [count or 0 for count in counts]
    if _reasoning_of(usage) is not None or None in counts or total <= sum(others):
        return usage
    return usage | {"reasoning_tokens": total - sum(others)}


def output_of(usage: Usage) -> int | None:
    """Return the number of output tokens, including reasoning.

    xAI and Google do not count reasoning as output, so the reasoning is added. Their usage is recognized by its total,
    which is the sum of input, output and reasoning.
    """
    output = count_of(usage, OUTPUT)
    reasoning = _reasoning_of(usage)
    if output is None or not reasoning:
        return output
    others = (count_of(usage, _INPUT) or 0) + output
    return output + reasoning if count_of(usage, ("total_tokens",)) == others + reasoning else output


def _reasoning_of(usage: Usage) -> int | None:
    reasoning = detail_of(usage, _OUTPUT_DETAILS, "reasoning_tokens")
    return count_of(usage, ("reasoning_tokens",)) if reasoning is None else reasoning


def count_of(usage: object, names: tuple[str, ...]) -> int | None:
    """Return the first of the named counts that is a non-negative integer, or `None` if there is no such count."""
    if isinstance(usage, dict):
        for name in names:
            number = usage.get(name)
            if type(number) is int:
                return number
            if type(number) is float and number.is_integer() and 0 <= number < 2**63:
                return int(number)
    return None


def detail_of(usage: Usage, groups: tuple[str, ...], name: str) -> int | None:
    """Return the count ``name`` from the first object in ``usage`` that has this count.

    ``groups`` has the names of these objects. `None` if no object has the count.
    """
    for group in groups:
        number = count_of(usage.get(group), (name,))
        if number is not None:
            return number
    return None
