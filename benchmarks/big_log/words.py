"""Define the words, sentences, models, namespaces and users of the big log, with realistic frequencies."""

import random
from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

USERS: Final = 200_000
VOCABULARY: Final = 20_000
_SENTENCES: Final = 1 << 16


def _words(text: str) -> list[str]:
    return text.split()


_FREQUENT: Final = _words(
    "the to and a of in is that you it for with on be this as are or not can we your have an from at by if will my "
    "please order invoice account customer which one no more do would what how when there was they all our about has "
    "delivery payment refund address password error server report table summary question answer translate contract"
)
_ONSETS: Final = _words("b c d f g h j k l m n p r s t v w z br cl dr fl gr pl pr sh st th tr ch qu sl sp")
_NUCLEI: Final = _words("a e i o u ai ea ou io ie")
_CODAS: Final = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "st", "rk", "ng", "x"]
#: Suffixes of some words, because search must handle letters beyond ASCII.
_FOREIGN: Final = ("ité", "ção", "übel", "größe", "ñor", "ów")

LABELS: Final = ("production", "web", "ios", "android", "staging", "testing", "development", "preview")
_LABEL_WEIGHTS: Final = (40, 22, 14, 12, 6, 3, 2, 1)
CHANNELS: Final = ("web", "ios", "android")
FEATURES: Final = (
    *("chat", "search", "summary", "translation", "support", "mail-draft", "extraction", "classification"),
    *("code-review", "planning", "tagging", "moderation"),
)
_FAMILIES: Final = ("gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4o", "gpt-4o-mini", "o4", "mistral-large", "llama-4")
_VARIANTS: Final = ("", "-latest", "-2026-03-05", "-2026-06-20", "-fast")


class Model(NamedTuple):
    """A model, and its price in US dollars per million tokens of each kind. A price is `None` if it is unknown."""

    name: str
    input_usd: float | None
    output_usd: float | None


def _models() -> tuple[Model, ...]:
    """Return 40 models, most used first. Every fifth has no known price."""
    names = [family + variant for variant in _VARIANTS for family in _FAMILIES]
    prices = [None if at % 5 == 4 else (0.15 * (1 + at % 7), 0.6 * (1 + at % 7)) for at in range(len(names))]
    return tuple(Model(name, *(price or (None, None))) for name, price in zip(names, prices, strict=True))


MODELS: Final = _models()


def zipf(count: int, exponent: float = 1.0) -> list[float]:
    """Return cumulative weights by rank. The first of ``count`` ranks is the most frequent."""
    return list(accumulate(rank**-exponent for rank in range(1, count + 1)))


def ranks(cumulative: Sequence[float], steps: int = 4096) -> list[int]:
    """Return the rank at each of ``steps`` even steps of the weights, so that ranks can be drawn by index without a
    search."""
    total = cumulative[-1]
    return [bisect(cumulative, (step + 0.5) / steps * total) for step in range(steps)]


#: Tables from which values are drawn by index.
DRAWN_MODELS: Final = tuple(MODELS[rank] for rank in ranks(zipf(len(MODELS))))
DRAWN_LABELS: Final = tuple(LABELS[rank] for rank in ranks(list(accumulate(_LABEL_WEIGHTS))))
DRAWN_FEATURES: Final = tuple(FEATURES[rank] for rank in ranks(zipf(len(FEATURES))))
DRAWN_CHANNELS: Final = tuple(CHANNELS[rank] for rank in ranks([6, 9, 10]))
#: The first of 200,000 users sends one in sixty of all users' requests. The last user sends one in a million.
USER_WEIGHTS: Final = zipf(USERS, 0.8)


def user_name(rank: int) -> str:
    """Return a user's id. Ids are unique, and users of adjacent ranks are far apart in id order."""
    return f"user-{rank * 0x9E3779B1 & 0xFFFFFFFF:08x}"


class Words:
    """A vocabulary ordered by rank, and sentences generated from it."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.vocabulary = _vocabulary(chance)
        self.weights = zipf(len(self.vocabulary))
        self.sentences = [self._sentence(chance) for _ in range(_SENTENCES)]

    def _sentence(self, chance: random.Random) -> str:
        words = chance.choices(self.vocabulary, cum_weights=self.weights, k=chance.randint(5, 12))
        return " ".join(words).capitalize() + "."


def _vocabulary(chance: random.Random) -> list[str]:
    words = dict.fromkeys(_FREQUENT)
    while len(words) < VOCABULARY:
        syllables = chance.choices((1, 2, 3), (2, 6, 1))[0]
        word = "".join(
            chance.choice(_ONSETS) + chance.choice(_NUCLEI) + chance.choice(_CODAS) for _ in range(syllables)
        )
        if len(word) > 2:
            words.setdefault(word + chance.choice(_FOREIGN) if chance.random() < 0.02 else word)
    return list(words)
