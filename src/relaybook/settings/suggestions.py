"""Suggest a known name for a misspelled name."""

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name, or `None` if no name is similar."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)), None)


def suggest(word: str, known: Iterable[str]) -> str:
    """Return " Did you mean …?" with a leading space, to append to an error message; empty if no name is similar."""
    name = closest(word, known)
    return f" Did you mean {name}?" if name else ""
