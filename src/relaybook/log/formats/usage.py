"""Read a provider's ``usage``: numbers of tokens, and the cost if the provider states one.

APIs, providers and gateways spell the same count in many ways, and state it at different places. ``counts_of`` reads
every spelling into the kinds of tokens that have their own prices. So the tokens of a record and its cost come from the
same numbers, whatever the shape of the usage. If several spellings of one count are present, the largest count is used,
because gateways fill in the spellings that they do not use with 0.

Usage may hold any JSON value. Counts that are not integers from 0 to 2⁶³ − 1 are ignored. Nothing here raises an error.
"""

from typing import Any, Final, NamedTuple, TypeAlias

from relaybook.apis import Kind

#: The name under which a format adds billed web searches to the usage, if the response states them elsewhere.
WEB_SEARCHES: Final = "web_search_requests"

_END: Final = 2**63
#: Numbers as text have at most 19 digits. Longer text is not a count and takes time to parse.
_MAX_DIGITS: Final = 40
#: The most expensive responses cost a few hundred dollars. A cost above this limit comes from a wrong stated cost or
#: from wrong token counts. Such a cost counts as unknown, because it would make every sum useless.
MAX_USD: Final = 1e6
#: The fields in which providers state the cost, and how many of their units are one dollar. In this order: xAI
#: (https://docs.x.ai/developers/cost-tracking); OpenRouter, Perplexity and Vercel; DeepInfra; LLM Gateway.
_COSTS: Final = (("cost_in_usd_ticks", 10**10), ("cost", 1), ("estimated_cost", 1), ("cost_usd_total", 1))
#: Objects are merged down to this depth. The details of usage are at most two objects deep.
_MAX_DEPTH: Final = 4

# The counts that nearly every usage has, as indexes of a list.
_PROMPT, _INPUT, _OUTPUT, _TOTAL, _CACHED, _READ, _WRITTEN, _CREATED, _WRITTEN_5M, _WRITTEN_1H, _REASONING = range(11)
_COUNTS: Final = 11

#: The spellings of a count. A value is the index of a frequent count, the name of another count (see
#: ``Counts.others``), or the spellings in a nested object.
_Names: TypeAlias = "dict[str, int | str | _Names]"
_LIFETIMES: Final[_Names] = {"ephemeral_5m_input_tokens": _WRITTEN_5M, "ephemeral_1h_input_tokens": _WRITTEN_1H}
_SEARCHES: Final[_Names] = {WEB_SEARCHES: "web_searches"}
_CACHED_DETAILS: Final[_Names] = {
    "audio_tokens": "cache_audio_read",
    "image_tokens": "cache_image_read",
    "video_tokens": "cache_video_read",
}
_CACHED_MEDIA: Final = frozenset({"cache_audio_read", "cache_image_read", "cache_video_read"})
_COHERE: Final[_Names] = {"input_tokens": _INPUT, "output_tokens": _OUTPUT}
_INPUT_DETAILS: Final[_Names] = {
    "cached_tokens": _CACHED,
    "cache_read_input_tokens": _CACHED,  # Perplexity
    "cache_write_tokens": _WRITTEN,  # OpenAI, OpenRouter
    "cache_creation_tokens": _WRITTEN,  # LiteLLM
    "cache_creation_input_tokens": _WRITTEN,  # Qwen, Perplexity
    "cached_creation_tokens": _WRITTEN,  # New API
    "cache_creation": _LIFETIMES,
    "cache_creation_token_details": _LIFETIMES,  # LiteLLM
    "audio_tokens": "input_audio",
    "image_tokens": "input_image",
    "video_tokens": "input_video",
    "cached_tokens_details": _CACHED_DETAILS,
    **_SEARCHES,  # LiteLLM
}
_OUTPUT_DETAILS: Final[_Names] = {
    "reasoning_tokens": _REASONING,
    "thinking_tokens": _REASONING,  # Anthropic
    "audio_tokens": "output_audio",
    "image_tokens": "output_image",
    "video_tokens": "output_video",
}
_USAGE: Final[_Names] = {
    "prompt_tokens": _PROMPT,
    "input_tokens": _INPUT,
    "prompt_eval_count": _INPUT,  # Ollama
    "eval_count": _OUTPUT,
    "completion_tokens": _OUTPUT,
    "output_tokens": _OUTPUT,
    "total_tokens": _TOTAL,
    "prompt_tokens_details": _INPUT_DETAILS,
    "input_tokens_details": _INPUT_DETAILS,
    "input_token_details": _INPUT_DETAILS,  # transcripts
    "completion_tokens_details": _OUTPUT_DETAILS,
    "output_tokens_details": _OUTPUT_DETAILS,
    "billed_units": _COHERE,
    "tokens": _COHERE,
    "cached_tokens": _CACHED,  # Moonshot, Cohere
    "prompt_cache_hit_tokens": _CACHED,  # DeepSeek
    "cache_read_input_tokens": _READ,
    "cache_read_tokens": _READ,
    "cache_creation_input_tokens": _CREATED,
    "cache_creation_tokens": _CREATED,
    "cache_write_tokens": _CREATED,
    "cache_write_input_tokens": _CREATED,
    "cache_creation": _LIFETIMES,
    "claude_cache_creation_5_m_tokens": _WRITTEN_5M,  # New API
    "claude_cache_creation_1_h_tokens": _WRITTEN_1H,
    "reasoning_tokens": _REASONING,
    "citation_tokens": "output_citation",  # Perplexity
    "num_search_queries": "web_searches",
    "prompt_audio_seconds": "input_audio_seconds",  # Mistral
    "seconds": "input_audio_seconds",  # transcripts
    "server_tool_use": _SEARCHES,  # Anthropic
    **_SEARCHES,
}
#: Google's names of counts, in lower case and without underscores: those of generateContent, of the Live API and of the
#: Interactions API.
_GOOGLE: Final[dict[str, str]] = {
    **dict.fromkeys(("prompttokencount", "totalinputtokens"), "input"),
    **dict.fromkeys(("candidatestokencount", "responsetokencount", "totaloutputtokens"), "output"),
    **dict.fromkeys(("thoughtstokencount", "totalthoughttokens"), "thoughts"),
    **dict.fromkeys(("cachedcontenttokencount", "totalcachedtokens"), "cached"),
    **dict.fromkeys(("tooluseprompttokencount", "totaltoolusetokens"), "tool"),
    **dict.fromkeys(("totaltokencount", "totaltokens"), "total"),
}
#: The lists of counts by modality, and the names of these counts in ``Counts.others``.
_GOOGLE_DETAILS: Final[dict[str, str]] = {
    **dict.fromkeys(("prompttokensdetails", "inputtokensbymodality"), "input_{}"),
    **dict.fromkeys(("tooluseprompttokensdetails", "toolusetokensbymodality"), "input_{}"),
    **dict.fromkeys(("cachetokensdetails", "cachedtokensbymodality"), "cache_{}_read"),
    **dict.fromkeys(("candidatestokensdetails", "responsetokensdetails", "outputtokensbymodality"), "output_{}"),
}
#: Google prices the pages of documents as images.
_MODALITIES: Final = {"AUDIO": "audio", "IMAGE": "image", "DOCUMENT": "image", "VIDEO": "video"}


class Tokens(NamedTuple):
    """The numbers of tokens of a record. `None` if unknown.

    Input tokens include the cached tokens and the tokens that were written to the cache. Output tokens include the
    reasoning tokens.
    """

    input: int | None
    output: int | None
    cached: int | None
    reasoning: int | None


class Counts(NamedTuple):
    """Everything that a provider counts."""

    tokens: Tokens
    #: Input tokens that were written to the provider's cache, for any lifetime.
    cache_writes: int
    #: Counts of parts of the input and output, and of searches. The names are those of prices in genai-prices, without
    #: their unit. Counts of 0 are omitted, except of parts of the cached tokens.
    others: dict[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether every count is 0 or missing. Beside generated text, such usage says nothing."""
        return not (any(self.tokens) or self.cache_writes or any(self.others.values()))


def counts_of(usage: dict[str, Any], kind: Kind | None = None, model: str | None = None) -> Counts:
    """Return the counts of a provider's usage.

    ``kind`` is the API, and ``model`` the model of the response. Both are used only where the usage alone is ambiguous.
    """
    if kind in ("generate", "interaction") and (found := _google_counts(usage)) is not None:
        return found
    counts = [-1] * _COUNTS
    others: dict[str, int] = {}
    if isinstance(usage.get("tokens"), dict) and "billed_units" in usage:
        usage = usage | {"billed_units": None}
    _read(usage, _USAGE, counts, others)
    if "iterations" in usage:
        counts = _add_compactions(usage["iterations"], counts)
    prompt, plain, output, total, cached, read, written, created, written_5m, written_1h, reasoning = counts
    input_ = prompt if prompt > 0 or plain < 0 else plain
    if input_ < 0 and kind == "embedding":
        input_ = total  # Voyage
    if written_5m > 0 or written_1h > 0:
        written = max(written, max(written_5m, 0) + max(written_1h, 0))
        if written_1h > 0:
            others["cache_write_1h"] = written_1h
    if read > 0 or created > 0 or (written > 0 and kind == "message"):
        cached, written = max(cached, read), max(written, created)
        created = written if kind == "message" else created
        input_ += _missing_input(input_, output, total, max(read, 0), max(created, 0), prompt <= 0, kind)
    elif read == 0:
        cached = max(cached, 0)
    if reasoning > 0:
        # xAI and Google do not count reasoning as output. Their total is the sum of input, output and reasoning.
        # Perplexity counts neither reasoning nor citations as output, and not in the total either.
        if output >= 0 and (total == max(input_, 0) + output + reasoning or "output_citation" in others):
            output += reasoning
    elif reasoning < 0 <= min(input_, output) and total > input_ + output and model and "gemini" in model.lower():
        # Google counts the thinking of Gemini models only in the total.
        reasoning = total - input_ - output
        output += reasoning
    tokens = Tokens(
        input_ if 0 <= input_ < _END else None,
        output if 0 <= output < _END else None,
        cached if cached >= 0 else None,
        reasoning if reasoning >= 0 else None,
    )
    return Counts(tokens, written if written > 0 else 0, others)


def billed_counts(usage: dict[str, Any], counts: Counts) -> Counts:
    """Return the counts that have a price. Cohere bills fewer tokens than it counts, and states both."""
    billed = usage.get("billed_units")
    if not isinstance(billed, dict) or billed.keys().isdisjoint(_COHERE):
        return counts
    return counts_of({"billed_units": billed})


def stated_usd(usage: dict[str, Any]) -> float | None:
    """Return the cost that the provider states, or `None`.

    If a gateway uses the customer's own key, ``cost`` is only the gateway's fee, and ``upstream_inference_cost`` is the
    cost at the provider behind the gateway. The result is the sum of the two.
    """
    for name, per_usd in _COSTS:
        cost = usage.get(name)
        if cost is None:
            continue
        stated = _usd(cost.get("total_cost") if isinstance(cost, dict) else cost, per_usd)
        if stated is None:
            continue
        if usage.get("is_byok") is not True:
            return stated
        details = usage.get("cost_details")
        upstream = _usd(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
        return None if upstream is None else stated + upstream
    return None


def merge_usage(into: dict[str, Any], more: dict[str, Any]) -> None:
    """Add what a later event of a stream states to the usage so far.

    Counts are cumulative, so a later value replaces an earlier value. But `null` replaces no value, 0 replaces no
    number above 0, and only an object replaces an object. The same holds inside objects. The objects of ``more`` are
    not copied, and later calls may change them.
    """
    if into:
        _merge(into, more, _MAX_DEPTH)
    else:
        into.update(more)


def _read(usage: dict[str, Any], names: _Names, counts: list[int], others: dict[str, int]) -> None:
    for name, value in usage.items():
        key = names.get(name)
        if key is None:
            continue
        if type(key) is dict:
            if isinstance(value, dict):
                _read(value, key, counts, others)
            continue
        if type(value) is not int or not 0 <= value < _END:
            value = _count(value)
        if type(key) is int:
            if value > counts[key]:
                counts[key] = value
        elif value > others.get(key, -1 if key in _CACHED_MEDIA else 0):  # type: ignore[arg-type]
            others[key] = value  # type: ignore[index]


def _google_counts(usage: dict[str, Any]) -> Counts | None:
    """Return the counts of Google's ``usageMetadata``. `None` if it has none of Google's counts.

    The input does not include the results of tools, and the output does not include thoughts, unless the total says so.
    A count of 0 is usually missing.
    """
    counts: dict[str, int] = {}
    others: dict[str, int] = {}
    for name, value in usage.items():
        key = name.replace("_", "").lower()
        if key in _GOOGLE:
            counts[_GOOGLE[key]] = max(_count_of(value), counts.get(_GOOGLE[key], -1))
        elif key in _GOOGLE_DETAILS and isinstance(value, list):
            _add_modalities(others, _GOOGLE_DETAILS[key], value)
    if not counts:
        return None
    total, input_, output = counts.get("total", -1), counts.get("input", -1), counts.get("output", -1)
    thoughts = counts.get("thoughts", -1)
    input_ = input_ + max(counts.get("tool", 0), 0) if input_ >= 0 else input_
    if output < 0:
        # Without thoughts, the total of the first events of a stream is that of the input.
        output = total - input_ if total > input_ >= 0 else thoughts if thoughts > 0 else -1
    elif thoughts > 0 and total != max(input_, 0) + output:
        output += thoughts
    cached = counts.get("cached", -1)
    fields = (number if 0 <= number < _END else None for number in (input_, output, cached, thoughts))
    return Counts(Tokens(*fields), 0, {name: count for name, count in others.items() if count or name in _CACHED_MEDIA})


def _add_modalities(others: dict[str, int], name: str, details: list[Any]) -> None:
    """Add the counts of a list. If the list is that of the cached tokens, it says that all other counts are 0."""
    if name == "cache_{}_read":
        others |= dict.fromkeys(_CACHED_MEDIA, 0)
    for each in details:
        modality = each.get("modality") if isinstance(each, dict) else None
        medium = _MODALITIES.get(modality.upper()) if isinstance(modality, str) else None
        if medium is not None:
            count = max(_count_of(each.get(count_name)) for count_name in ("tokenCount", "token_count", "tokens"))
            others[name.format(medium)] = min(others.get(name.format(medium), 0) + max(count, 0), _END - 1)


def _count_of(value: object) -> int:
    """Return a count, or -1 if the value is not a count."""
    return value if type(value) is int and 0 <= value < _END else _count(value)


def _count(value: object) -> int:
    """Return a count, or -1 if the value is not a count."""
    if type(value) is float:
        return int(value) if 0 <= value < _END and value.is_integer() else -1
    if type(value) is str and len(value) <= _MAX_DIGITS and value.isdecimal():
        number = int(value)
        return number if number < _END else -1
    return -1


def _add_compactions(iterations: object, counts: list[int]) -> list[int]:
    """Return the counts with those of compactions, which Anthropic lists in ``iterations`` and counts nowhere else."""
    for iteration in iterations if isinstance(iterations, list) else ():
        if isinstance(iteration, dict) and iteration.get("type") == "compaction":
            more = [-1] * _COUNTS
            _read(iteration, _USAGE, more, {})
            counts = [one + two if min(one, two) >= 0 else max(one, two) for one, two in zip(counts, more, strict=True)]
    return counts


def _missing_input(
    input_: int, output: int, total: int, read: int, created: int, is_plain: bool, kind: Kind | None
) -> int:
    """Return the tokens read from the cache and written to it that the number of input tokens does not include.

    ``input_tokens`` in Anthropic's structure includes neither. ``prompt_tokens`` of a gateway includes both, neither or
    one of them: the total says which, or the input is smaller than its parts.
    """
    if input_ < 0:
        return 0
    cache = read + created
    if kind == "message" and is_plain:
        return cache
    rest = total - input_ - max(output, 0) if total >= 0 else -1
    if rest > 0 and rest in (cache, created, read):
        return rest
    if input_ < cache or (is_plain and rest != 0):
        return cache
    return 0


def _usd(value: object, per_usd: int = 1) -> float | None:
    number = _number(value)
    return number / per_usd if number is not None and 0 <= number <= MAX_USD * per_usd else None


def _number(value: object) -> int | float | None:
    if type(value) is int or type(value) is float:
        return value
    if type(value) is str and len(value) <= _MAX_DIGITS:
        try:
            return float(value)
        except ValueError:
            return None
    return None


def _merge(into: dict[str, Any], more: dict[str, Any], depth: int) -> None:
    for name, value in more.items():
        before = into.get(name)
        if isinstance(before, dict):
            # An object with a type is one of several kinds of objects.
            if isinstance(value, dict) and depth > 0 and "type" not in value:
                _merge(before, value, depth - 1)
            elif isinstance(value, dict):
                into[name] = value
        elif name not in into or (value is not None and not (_number(value) == 0 and (_number(before) or 0) > 0)):
            into[name] = value
