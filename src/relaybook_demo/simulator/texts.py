"""Chooses what the simulated model says: the same prompt always gets the same text.

Many topics have answers written by hand (``prepared``), so that a demonstration reads like a chat; any other prompt is
quoted back with something harmless. Nothing here knows about requests or formats.
"""

import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from relaybook_demo.simulator.prepared import TOPICS

#: The fields that a result must have, and the sentence. The first that fits is taken.
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
_WORDS: Final = tuple(_FILLER.split())
_TOKEN: Final = re.compile(r"\s?\w{1,8}|\s?[^\w\s]|\s+?")
_PATTERNS: Final = tuple((re.compile(pattern, re.IGNORECASE), answers) for pattern, answers in TOPICS)
#: How much of a prompt is searched for topics: what is asked for stands at the beginning.
_SEARCHED: Final = 1000


@lru_cache(maxsize=1024)
def answer_text(prompt: str, variant: int = 0) -> str:
    """The answer to a prompt; each ``variant`` (the index of a choice) is another text."""
    pick = zlib.crc32(prompt.encode("utf-8", "surrogatepass")) + variant
    answers, values = _topic(prompt)
    text = _filled(answers[pick % len(answers)], values)
    return text if variant < len(answers) else f"({variant + 1}) {text}"


def result_text(result: Any) -> str | None:
    """A sentence about a tool's result, if one is prepared for the fields it has."""
    if not isinstance(result, dict):
        return None
    sentence = next((sentence for fields, sentence in SENTENCES if fields <= result.keys()), None)
    return None if sentence is None else _filled(sentence, {name: str(value) for name, value in result.items()})


def _topic(prompt: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The answers to choose from, and what stands for the names in them."""
    for pattern, answers in _PATTERNS:
        found = pattern.search(prompt, 0, _SEARCHED)
        if found is not None:
            return answers, found.groupdict("")
    return _OPENINGS, {"prompt": _quote(prompt)}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Not ``str.format``: texts hold code and JSON."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def reasoning_text() -> str:
    """What a reasoning model thinks before it answers."""
    return _REASONING


def filler_tokens(count: int) -> tuple[str, ...]:
    """Exactly ``count`` tokens of harmless words."""
    words = [f" {_WORDS[at % len(_WORDS)]}" for at in range(count)]
    return (words[0].lstrip().capitalize(), *words[1:]) if words else ()


@lru_cache(maxsize=1024)
def split_tokens(text: str) -> tuple[str, ...]:
    """The text cut into token-like pieces of at most nine characters; joined they are the text again."""
    return tuple(_TOKEN.findall(text))


def count_tokens(text: str) -> int:
    """A quick estimate for prompts, in the order of what a real tokenizer counts."""
    return (len(text) + 3) // 4


def _quote(prompt: str) -> str:
    line = " ".join(prompt.split())
    if not line:
        return "nothing at all."
    shown = line if len(line) <= 120 else line[:119].rstrip() + "…"
    return shown if shown[-1] in ".?!…" else shown + "."
