"""Places in the list of namespaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.filters import BadFilter
from relaybook.stores.base import NamespaceRow
from relaybook.stores.namespace_order import Place, parse_place, place_of


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(0, 1e308))
def test_places_come_back(namespace: str, cost_usd: float) -> None:
    place = Place("cost_usd", cost_usd, namespace)
    assert parse_place(str(place), "cost_usd") == place


def test_a_place_is_that_of_a_row_in_its_sort() -> None:
    row = NamespaceRow(
        namespace="a", requests=3, failed=1, input_tokens=0, output_tokens=0, cost_usd=0.5, first_at=1, last_at=9
    )
    assert place_of(row, "requests") == Place("requests", 3, "a")
    assert place_of(row, "cost_usd") == Place("cost_usd", 0.5, "a")


@pytest.mark.parametrize(
    "text", ["", "o5", "[]", '["requests",1]', '["requests",99999999999999999999,"a"]', '["drop",1,"a"]', "\ud800"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadFilter) as refused:
        parse_place(text, "requests")
    assert refused.value.parameter == "cursor"


def test_a_place_of_another_sort_is_refused() -> None:
    with pytest.raises(BadFilter, match="sorted alike"):
        parse_place(str(Place("failed", 1, "a")), "requests")
