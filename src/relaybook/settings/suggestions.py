"""Suggest a known name for a misspelled one."""

import difflib
from collections.abc import Iterable


def suggest(word: str, known: Iterable[str]) -> str:
    """Return " Did you mean …?" with a leading space, to append to an error message; empty if no name is similar."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {matches[0]}?" if matches else ""
