"""Chooses what the simulated model says: the same prompt always gets the same text.

A few topics have answers written by hand, so that a demonstration reads like a chat; any other prompt is quoted back
with something harmless. Nothing here knows about requests or formats.
"""

import re
import zlib
from functools import lru_cache
from typing import Final

_TOPICS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        r"refund|money back|return (the|my|an?)\b|cancel",
        (
            "I'm sorry the order didn't work out. You can return it within 30 days, and the refund reaches your "
            "account three to five working days after the parcel arrives. Shall I send you the return label?",
            "Of course. I have noted your refund request: the full amount goes back to the card you paid with, "
            "usually within five working days. You will get an e-mail as soon as it is on its way.",
        ),
    ),
    (
        r"weather|forecast|rain|sunny|temperature outside",
        (
            "Mostly sunny today, with a light breeze from the west and highs around 21 °C. Some clouds move in "
            "towards the evening, but it stays dry. A thin jacket is enough.",
            "Expect showers until noon, then a slow clearing from the north. Around 14 °C, so take an umbrella for "
            "the way there and sunglasses for the way back.",
        ),
    ),
    (
        r"haiku|poem|verse",
        (
            "A quiet relay\ncarries every word across;\nthe book remembers.",
            "Rain on the server,\nsmall lights counting in the dark:\nmorning, all is well.",
        ),
    ),
    (
        r"summar|tl;?dr|key points|in short",
        (
            "In short:\n\n1. The team ships the new checkout on Thursday.\n2. Two open questions about taxes are with "
            "finance.\n3. Support gets a one-page guide before launch.",
            "Three points matter: costs fell by 12 %, mostly thanks to caching; answers got faster, with a median of "
            "0.8 seconds; and two customers still wait for their export.",
        ),
    ),
    (
        r"translat|in (french|german|spanish|italian|japanese)",
        (
            "« Le train part à huit heures et demie. »\n\nA little more formal: « Le départ du train est prévu à "
            "8 h 30. »",
            "„Der Zug fährt um halb neun ab.“ In Austria and southern Germany you would hear exactly the same.",
        ),
    ),
    (
        r"python|function|code|regex|sql|bug",
        (
            "Here is a short version:\n\n```python\ndef first_words(text: str, count: int) -> str:\n"
            '    return " ".join(text.split()[:count])\n```\n\nIt keeps the order and copes with an empty text.',
            "The bug is the comparison: `==` between a string and a number is never true. Convert it first, "
            "`int(value) == limit`, and the test passes.",
        ),
    ),
    (
        r"e-?mail|letter|reply to|draft",
        (
            "Subject: Our meeting on Thursday\n\nDear Ms Okafor,\n\nthank you for your patience. Could we move our "
            "meeting to 3 p.m.? The agenda stays as it is.\n\nKind regards\nJonas",
        ),
    ),
    (
        r"joke|funny",
        ("Why did the log file go to therapy? It could not stop going back to the same lines.",),
    ),
    (
        r"recipe|cook|dinner",
        (
            "Tomato soup for two: soften an onion in butter, add 400 g of tomatoes and a cup of stock, simmer for 15 "
            "minutes, blend, season, and finish with a spoon of cream.",
        ),
    ),
    (
        r"^\W*(hello|hi|hey|good (morning|evening)|ping)\b",
        ("Hello! What can I do for you today?", "Hi there! How can I help?"),
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
_PATTERNS: Final = tuple((re.compile(pattern, re.IGNORECASE), answers) for pattern, answers in _TOPICS)


@lru_cache(maxsize=1024)
def answer_text(prompt: str, variant: int = 0) -> str:
    """The answer to a prompt; each ``variant`` (the index of a choice) is another text."""
    pick = zlib.crc32(prompt.encode("utf-8", "surrogatepass")) + variant
    text = next((answers[pick % len(answers)] for pattern, answers in _PATTERNS if pattern.search(prompt)), None)
    if text is None:
        text = _OPENINGS[pick % len(_OPENINGS)].format(prompt=_quote(prompt))
    return text if variant == 0 else f"({variant + 1}) {text}"


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
