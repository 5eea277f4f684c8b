"""Names that are near to what was written."""

from relaybook.settings.suggestions import suggest


def test_what_is_near_is_suggested_and_nothing_else() -> None:
    assert suggest("modell", ["namespace", "model"]) == " Did you mean model?"
    assert suggest("zzz", ["namespace", "model"]) == ""
