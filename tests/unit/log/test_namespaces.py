"""What a change makes of a label, and which names a log pins by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.log.namespaces import (
    Label,
    LabelChange,
    NotPinned,
    Place,
    changed,
    group_of,
    looks_like_id,
    parse_place,
    place_of,
)
from relaybook.log.query.filters import BadFilter
from relaybook.log.store.port import NamespaceRow


def label(color: int, position: int = 0) -> Label:
    return Label(True, color, None, position)


def pin(namespace: str = "mine", **fields: object) -> LabelChange:
    return LabelChange(namespace=namespace, pinned=True, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [
        "someone@example.org",
        "user-1234",
        "tenant/042",
        "0192f0c8-7b3a-7cde-8f00-000000000001",
        "DEADBEEF",
        "session-9f3ac0de",
        "٤٤١١",
    ],
)
def test_names_of_which_there_are_many_look_like_ids(name: str) -> None:
    assert looks_like_id(name)


@pytest.mark.parametrize("name", ["production", "iOS", "v12", "user-8f3a", "default", "eu-west-1", "Straße 12", ""])
def test_names_of_which_there_are_few_do_not(name: str) -> None:
    assert not looks_like_id(name)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("production", "Environment"),
        ("Default", "Environment"),
        ("iOS", "Channel"),
        ("WhatsApp", "Channel"),
        ("my production", None),
        ("checkout", None),
    ],
)
def test_usual_names_have_their_group(name: str, group: str | None) -> None:
    assert group_of(name) == group


def test_who_is_pinned_gets_the_lowest_free_colour_its_group_and_the_last_place() -> None:
    assert changed(Label(), pin("iOS"), []) == Label(True, 1, "Channel", 0)
    assert changed(Label(), pin("checkout"), [label(1, 4), label(3, 2)]) == Label(True, 2, None, 5)


def test_when_all_colours_are_given_the_next_in_turn_follows() -> None:
    eight = [label(color) for color in range(1, 9)]
    assert changed(Label(), pin(), eight).color == 1
    assert changed(Label(), pin(), [*eight, label(1)]).color == 2
    assert changed(Label(), pin(), [*eight[1:], label(2)]).color == 1


def test_what_is_given_counts_and_null_is_a_group_too() -> None:
    change = pin("ios", color=7, group=None, position=3)
    assert changed(Label(), change, [label(1)]) == Label(True, 7, None, 3)


def test_what_is_left_out_stays() -> None:
    now = Label(True, 4, "Mine", 6)
    assert changed(now, pin("ios"), []) == now
    assert changed(now, LabelChange(namespace="ios", color=5), []) == Label(True, 5, "Mine", 6)
    assert changed(now, LabelChange(namespace="ios", group=None), []) == Label(True, 4, None, 6)


def test_who_is_not_pinned_any_more_has_nothing_else() -> None:
    assert changed(Label(True, 4, "Mine", 6), LabelChange(namespace="x", pinned=False), []) == Label()


@pytest.mark.parametrize("change", [{"color": 3}, {"group": None}, {"position": 1}, {"pinned": False, "color": 3}])
def test_who_is_not_pinned_cannot_be_given_anything(change: dict[str, object]) -> None:
    with pytest.raises(NotPinned, match=r"'x' is not pinned, so it has no \w+: send \"pinned\": true"):
        changed(Label(), LabelChange(namespace="x", **change), [])  # type: ignore[arg-type]


def test_the_last_place_is_not_passed() -> None:
    assert changed(Label(), pin(), [label(1, 9999)]).position == 9999


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
