"""Choose the text of a simulated response. The same prompt always gets the same text.

Many topics have prepared texts (``prepared``), so that a demonstration reads like a real chat. For any other topic, a
generic text quotes the prompt. This module does not use the requests and responses of any API.
"""

import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from relaybook_demo.simulator.prepared import TOPICS

#: Sentences about tool results, each with a set of fields. The first sentence whose fields are all in a result is used.
SENTENCES: Final[tuple[tuple[frozenset[str], str], ...]] = (
    (
        frozenset({"city", "sky", "celsius", "wind"}),
        "In {city} it is {sky} at {celsius} °C, with {wind}. That should do for sitting outside until the evening.",
    ),
    (
        frozenset({"order", "state", "sent_on", "amount"}),
        "The refund for order {order} is **{state}**: {amount} left our account on {sent_on}. It is usually on the "
        "card three to five working days later.",
    ),
)


_OPENINGS: Final = (
    "Good question. You wrote: “{prompt}” The short answer is yes, and it is simpler than it looks: start with "
    "the smallest case, check the result, then repeat.",
    "You asked about “{prompt}” Here is what I would do first: write down what you already know, and strike out "
    "whatever does not matter. Usually one clear next step remains.",
    "About “{prompt}” I would weigh two things: how much time you have, and how easily the step can be undone. "
    "If it can be undone, try it today.",
)
_REASONING: Final = (
    "The user wants a short and helpful answer. First I look at what is really being asked, then I check whether "
    "anything is missing. Nothing is, so I can answer directly and keep it brief."
)
_FILLER: Final = (
    "the lantern keeps a steady light while we wait for morning and count the small boats coming home along the quiet "
    "river with bread tea letters and old songs"
)
_FILLER_WORDS: Final = tuple(_FILLER.split())
_TOKEN: Final = re.compile(r"\s?\w{1,8}|\s?[^\w\s]|\s+?")
_PATTERNS: Final = tuple((re.compile(pattern, re.IGNORECASE), responses) for pattern, responses in TOPICS)
#: Only this many characters of a prompt are searched for topics. The task is usually at the beginning.
_SEARCHED: Final = 1000


@lru_cache(maxsize=1024)
def response_text(prompt: str, variant: int = 0) -> str:
    """Return the text for a prompt. ``variant`` is the index of a choice. Each choice gets a different text."""
    seed = zlib.crc32(prompt.encode("utf-8", "surrogatepass")) + variant
    responses, values = _topic(prompt)
    text = _fill(responses[seed % len(responses)], values)
    return text if variant < len(responses) else f"({variant + 1}) {text}"


def result_text(result: Any) -> str | None:
    """Return a sentence about a tool result, or `None` if no sentence is prepared for its fields."""
    if not isinstance(result, dict):
        return None
    sentence = next((sentence for fields, sentence in SENTENCES if fields <= result.keys()), None)
    return None if sentence is None else _fill(sentence, {name: str(value) for name, value in result.items()})


def _topic(prompt: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the texts for a prompt, and the values of their placeholders."""
    for pattern, responses in _PATTERNS:
        match = pattern.search(prompt, 0, _SEARCHED)
        if match is not None:
            return responses, match.groupdict("")
    return _OPENINGS, {"prompt": _quote(prompt)}


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders. ``str.format`` cannot be used because texts contain code and JSON."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def reasoning_text() -> str:
    """Return the reasoning of a reasoning model."""
    return _REASONING


def filler_tokens(count: int) -> tuple[str, ...]:
    """Return exactly ``count`` tokens of filler words."""
    words = [f" {_FILLER_WORDS[index % len(_FILLER_WORDS)]}" for index in range(count)]
    return (words[0].lstrip().capitalize(), *words[1:]) if words else ()


@lru_cache(maxsize=1024)
def split_tokens(text: str) -> tuple[str, ...]:
    """Split a text into tokens of at most nine characters. The joined tokens are the original text."""
    return tuple(_TOKEN.findall(text))


def count_tokens(text: str) -> int:
    """Estimate the number of prompt tokens, with four characters per token. Real tokenizers give similar numbers."""
    return (len(text) + 3) // 4


def _quote(prompt: str) -> str:
    line = " ".join(prompt.split())
    if not line:
        return "nothing at all."
    excerpt = line if len(line) <= 120 else line[:119].rstrip() + "…"
    return excerpt if excerpt[-1] in ".?!…" else excerpt + "."
