"""What somebody may have meant who wrote a name nobody knows. Pure."""

import difflib
from collections.abc import Iterable


def suggest(word: str, known: Iterable[str]) -> str:
    """A sentence to add to a message about an unknown name, with a blank before it; empty when nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""
