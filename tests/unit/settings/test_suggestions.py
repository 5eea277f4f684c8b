"""Test the suggestions for misspelled names."""

from relaybook.settings.suggestions import suggest


def test_only_similar_names_are_suggested() -> None:
    assert suggest("modell", ["namespace", "model"]) == " Did you mean model?"
    assert suggest("zzz", ["namespace", "model"]) == ""
