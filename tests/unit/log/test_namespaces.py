"""Test changes to pinned namespaces, default groups, and namespace cursors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.log.namespaces import (
    Label,
    LabelChange,
    NamespaceCursor,
    NamespaceRow,
    NotPinned,
    apply_change,
    cursor_after,
    default_group,
    looks_like_id,
    order_after,
    order_of,
)
from relaybook.log.query.filters import BadFilter


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
def test_generated_names_look_like_ids(name: str) -> None:
    assert looks_like_id(name)


@pytest.mark.parametrize("name", ["production", "iOS", "v12", "user-8f3a", "default", "eu-west-1", "Straße 12", ""])
def test_other_names_do_not_look_like_ids(name: str) -> None:
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
def test_common_names_have_a_default_group(name: str, group: str | None) -> None:
    assert default_group(name) == group


def test_pinning_assigns_the_lowest_free_color_the_default_group_and_the_last_position() -> None:
    assert apply_change(Label(), pin("iOS"), []) == Label(True, 1, "Channel", 0)
    assert apply_change(Label(), pin("checkout"), [label(1, 4), label(3, 2)]) == Label(True, 2, None, 5)


def test_if_all_colors_are_in_use_they_rotate() -> None:
    eight = [label(color) for color in range(1, 9)]
    assert apply_change(Label(), pin(), eight).color == 1
    assert apply_change(Label(), pin(), [*eight, label(1)]).color == 2
    assert apply_change(Label(), pin(), [*eight[1:], label(2)]).color == 1


def test_given_fields_override_defaults_and_group_may_be_null() -> None:
    change = pin("ios", color=7, group=None, position=3)
    assert apply_change(Label(), change, [label(1)]) == Label(True, 7, None, 3)


def test_omitted_fields_are_unchanged() -> None:
    now = Label(True, 4, "Mine", 6)
    assert apply_change(now, pin("ios"), []) == now
    assert apply_change(now, LabelChange(namespace="ios", color=5), []) == Label(True, 5, "Mine", 6)
    assert apply_change(now, LabelChange(namespace="ios", group=None), []) == Label(True, 4, None, 6)


def test_unpinning_removes_all_other_fields() -> None:
    assert apply_change(Label(True, 4, "Mine", 6), LabelChange(namespace="x", pinned=False), []) == Label()


@pytest.mark.parametrize("change", [{"color": 3}, {"group": None}, {"position": 1}, {"pinned": False, "color": 3}])
def test_fields_of_a_namespace_that_is_not_pinned_are_rejected(change: dict[str, object]) -> None:
    with pytest.raises(
        NotPinned, match=r"'x' is not pinned after this change, so it cannot have a \w+\. Send \"pinned\": true"
    ):
        apply_change(Label(), LabelChange(namespace="x", **change), [])  # type: ignore[arg-type]


def test_positions_do_not_exceed_the_last() -> None:
    assert apply_change(Label(), pin(), [label(1, 9999)]).position == 9999


@given(st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.floats(0, 1e308))
def test_namespace_cursors_survive_encoding(namespace: str, cost_usd: float | None) -> None:
    place = NamespaceCursor("cost_usd", cost_usd, namespace)
    assert order_after(str(place), "cost_usd") == order_of(cost_usd, namespace)


def test_a_cursor_has_the_sort_value_of_its_row() -> None:
    row = NamespaceRow(
        namespace="a", requests=3, failed=1, input_tokens=0, output_tokens=0, cost_usd=0.5, first_at=1, last_at=9
    )
    assert cursor_after(row, "requests") == NamespaceCursor("requests", 3, "a")
    assert cursor_after(row, "cost_usd") == NamespaceCursor("cost_usd", 0.5, "a")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "o5",
        "[]",
        '["requests",1]',
        '["requests",99999999999999999999,"a"]',
        '["requests",null,"a"]',
        '["drop",1,"a"]',
        "\ud800",
    ],
)
def test_invalid_namespace_cursors_are_rejected(text: str) -> None:
    with pytest.raises(BadFilter) as error:
        order_after(text, "requests")
    assert error.value.parameter == "cursor"


def test_a_cursor_of_another_sort_is_rejected() -> None:
    with pytest.raises(BadFilter, match="a page with the same sort"):
        order_after(str(NamespaceCursor("failed", 1, "a")), "requests")
