"""All stores: lists of namespaces and values, and records found by ids from providers and clients."""

import random

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import A_TIMESTAMP, an_entry, soon

from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.namespaces import LabelChange, NamespaceQuery, NamespaceRow, NamespaceSort
from relaybook.log.query.filters import BadFilter, Filter, Term

SORTS: tuple[NamespaceSort, ...] = ("last_at", "requests", "failed", "cost_usd")


def names(store, text="", sort="last_at", limit=500, after=None, pinned=None, prefix=""):
    rows, cursor = store.reader.namespaces(
        NamespaceQuery(text=text, prefix=prefix, pinned=pinned, sort=sort), limit, after, soon()
    )
    return [row.namespace for row in rows], cursor


def test_a_namespace_sums_its_requests(store: Store) -> None:
    name = "user-1234"
    store.commit(
        an_entry(namespace=name, started_at=50, cost_usd=0.25, input_tokens=10, output_tokens=None, failed=True)
    )
    store.commit(an_entry(namespace=name, started_at=40, cost_usd=None, input_tokens=5, output_tokens=7))
    (row,) = store.reader.namespaces(NamespaceQuery(), 5, None, soon())[0]
    assert (row.requests, row.failed, row.input_tokens, row.output_tokens, row.cost_usd) == (2, 1, 15, 7, 0.25)
    assert (row.first_at, row.last_at) == (40, 50)
    assert (row.pinned, row.color, row.group, row.position) == (False, None, None, None)


@pytest.fixture
def five(store):
    """Return a store with five namespaces, which each sort lists in a different order."""
    rows = [
        ("a", 50, 1, 0, 0.5),
        ("b", 40, 3, 1, 0.25),
        ("c", 30, 2, 2, 4.0),
        ("d", 20, 2, 0, 0.0),
        ("e", 10, 9, 0, 1.0),
    ]
    entries = [
        an_entry(namespace=name, started_at=at, failed=n < failed, cost_usd=cost if n == 0 else None)
        for name, at, requests, failed, cost in rows
        for n in range(requests)
    ]
    for first in range(3):  # the sums of a namespace come from several commits
        store.commit(*entries[first::3])
    return store


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("last_at", "abcde"),
        ("requests", "ebcda"),
        ("failed", "cbade"),
        ("failed_share", "cbade"),
        ("cost_usd", "ceabd"),
    ],
)
def test_namespaces_are_sorted_largest_first_and_ties_by_name(five: Store, sort: NamespaceSort, expected: str) -> None:
    assert names(five, sort=sort) == (list(expected), None)


@pytest.mark.parametrize("sort", ["last_at", "requests", "failed", "failed_share", "cost_usd"])
@pytest.mark.parametrize("limit", [1, 2, 4, 5])
def test_pages_of_namespaces_contain_each_once(five: Store, sort: NamespaceSort, limit: int) -> None:
    shown, cursor = names(five, sort=sort, limit=limit)
    while cursor is not None:
        more, cursor = names(five, sort=sort, limit=limit, after=cursor)
        shown += more
    assert shown == names(five, sort=sort)[0]


def test_a_namespace_with_an_unknown_cost_comes_after_those_that_cost_nothing(store: Store) -> None:
    costs = {"a": None, "b": 0.0, "c": 0.25, "d": None, "e": -0.5, "f": 0.0, "g": 1.0, "h": None, "i": 0.0}
    store.commit(*(an_entry(namespace=name, cost_usd=cost) for name, cost in costs.items()))
    store.commit(*(an_entry(namespace=name, cost_usd=None) for name in costs))
    for name in costs:
        store.labels.change(LabelChange(namespace=name, pinned=name in "bad"))
    store.labels.change(LabelChange(namespace="c2", pinned=True))  # it has no requests, so its cost is unknown
    for pinned, expected in (
        (None, ["g", "c", "b", "f", "i", "e", "a", "c2", "d", "h"]),
        (True, ["b", "a", "c2", "d"]),
    ):
        for limit in (1, 2, 3, 100):
            shown, cursor = names(store, sort="cost_usd", limit=limit, pinned=pinned)
            while cursor is not None:
                more, cursor = names(store, sort="cost_usd", limit=limit, pinned=pinned, after=cursor)
                shown += more
            assert shown == expected


def test_the_first_and_last_requests_of_patterns_of_namespaces_are_found(store: Store) -> None:
    assert store.reader.request_times(["a*"], soon()) == {}
    starts = {"a": 50, "ab": 40, "abc": 30, "abd": 20, "a'\\b": 15, "b": 10, "a*": 5, "é": 70}
    store.commit(*(an_entry(namespace=name, started_at=at) for name, at in starts.items()))
    store.commit(*(an_entry(namespace=name, started_at=at + 100) for name, at in starts.items()))
    store.labels.change(LabelChange(namespace="abz", pinned=True))
    for patterns, expected in [
        ([], {None: (5, 170)}),
        (["*"], {"*": (5, 170)}),
        (["ab*", "a*", "abd"], {"abd": (20, 120), "ab*": (30, 140), "a*": (5, 150), None: (10, 170)}),
        (["a'\\b", "x*", "é*"], {"a'\\b": (15, 115), "é*": (70, 170), None: (5, 150)}),
    ]:
        assert store.reader.request_times(patterns, soon()) == expected


@pytest.fixture
def many(store):
    """Return a store with 2,000 namespaces, written in four batches.

    The first batch has all namespaces, and the other batches repeat some. Some sorts have many namespaces with equal
    values, and other sorts have few.
    """
    rng = random.Random(1)
    users = [f"user-{rng.randrange(10**9)}" for _ in range(1_990)] + [f"label{n}" for n in range(10)]
    for batch in range(4):
        drawn = [*(rng.choices(users, k=500) if batch else users), *rng.choices(users[-10:], k=500)]
        rng.shuffle(drawn)
        store.commit(*(_drawn_entry(name, rng) for name in drawn))
    return store


def _drawn_entry(name, rng):
    cost = rng.choice([None, rng.random()])
    return an_entry(namespace=name, started_at=rng.randrange(10**6), failed=rng.random() < 0.1, cost_usd=cost)


def test_the_first_pages_of_many_namespaces_are_the_beginning_of_the_whole_list(many: Store) -> None:
    for sort in SORTS:
        _check_pages(many, sort)


def _sort_key(row: NamespaceRow, sort: NamespaceSort) -> tuple[bool, float, str]:
    value = getattr(row, sort)
    return value is None, -(value or 0), row.namespace


def _check_pages(many: Store, sort: NamespaceSort) -> None:
    rows, _ = many.reader.namespaces(NamespaceQuery(sort=sort), 10_000, None, soon())
    whole = [row.namespace for row in sorted(rows, key=lambda row: _sort_key(row, sort))]
    assert len(whole) == 2_000
    assert [row.namespace for row in rows] == whole
    assert next(row.requests for row in rows if row.namespace == "label3") > 100
    for limit in (150, 1_999):
        shown, cursor = names(many, sort=sort, limit=limit)
        while cursor is not None:
            more, cursor = names(many, sort=sort, limit=limit, after=cursor)
            shown += more
        assert shown == whole
    for text in ("user-1", "9999", "LABEL", "bel3", "lab", "z", whole[7][5:9]):
        expected = [name for name in whole if text.lower() in name]
        assert names(many, text, sort, limit=20)[0] == expected[:20]
        assert names(many, text, sort, limit=3_000)[0] == expected


@pytest.mark.parametrize(
    "after",
    ["", "x", "[]", '["requests",1,"a"]', '["last_at","x","a"]', '["last_at",1e400,"a"]', '["last_at",null,"a"]'],
)
def test_an_invalid_cursor_is_rejected(five: Store, after: str) -> None:
    with pytest.raises(BadFilter):
        names(five, after=after)


def test_a_part_of_a_name_matches_literally(store: Store) -> None:
    for name in ("user-1", "user-10", "user_1", "User-1", "user%", "usér", "user-1\U0010ffff", "user-2"):
        store.commit(an_entry(namespace=name))
    assert sorted(names(store, text="user-1")[0]) == ["User-1", "user-1", "user-10", "user-1\U0010ffff"]
    assert names(store, text="É")[0] == []
    assert names(store, text="sér")[0] == ["usér"]
    assert names(store, text="user%")[0] == ["user%"]
    assert names(store, text="user_")[0] == ["user_1"]
    assert names(store, text="user-1\U0010ffff")[0] == ["user-1\U0010ffff"]


def test_values_are_counted_most_frequent_first(store: Store) -> None:
    for model, user, session, properties in [
        ("gpt-5", "u1", "s1", {"channel": "ios"}),
        ("gpt-5", "u2", "s2", {"channel": "ios", "tier": "pro"}),
        ("gpt-4o", None, "s2", {}),
        (None, "u2", None, {"channel": "web"}),
    ]:
        fields = {"model": model, "user": user, "session": session, "properties": properties}
        store.commit(an_entry(finish_reason=None, namespace="n", **fields))

    def values(field, prefix="", limit=10):
        return [(count.value, count.requests) for count in store.reader.values(field, prefix, limit, soon())]

    assert values("model") == [("gpt-5", 2), ("gpt-4o", 1)]
    assert values("model", "gpt-4") == [("gpt-4o", 1)]
    assert values("model", limit=1) == [("gpt-5", 2)]
    assert values("user") == [("u2", 2), ("u1", 1)]
    assert values("session") == [("s2", 2), ("s1", 1)]
    assert values("finish_reason") == []
    assert values("namespace") == [("n", 4)]
    assert values("key") == [("3fa9c2d1e0b4", 4)]
    assert values("route") == [("default", 4)]
    store.commit(an_entry(route="gemini"), an_entry(route="anthropic"), an_entry(route="gemini"))
    assert values("route") == [("default", 4), ("gemini", 2), ("anthropic", 1)]
    assert values("route", "g") == [("gemini", 2)]
    assert values("property") == [("channel", 3), ("tier", 1)]
    assert values("property.channel") == [("ios", 2), ("web", 1)]
    assert values("property.none") == []


def test_properties_of_any_name_are_listed_filtered_by_and_charted(store: Store) -> None:
    names = ("a b", "a:b", '"', "a\\", "'", "(a)", "-a", "*", "a%", "a.b", "größe", "नाम", "😀", "a\ufffdb", "x" * 256)
    for number, name in enumerate(names):
        store.commit(*(an_entry(properties={name: f"v{number}"}) for _ in range(number + 1)))
    listed = store.reader.values("property", "", 50, soon())
    assert [(count.value, count.requests) for count in listed] == [(names[n], n + 1) for n in range(len(names))][::-1]
    for number, name in enumerate(names):
        field, value, total = f"property.{name}", f"v{number}", number + 1
        assert [each.value for each in store.reader.values(field, "v", 5, soon())] == [value]
        for term in (Term(field, (value,)), Term(field, (), prefixes=("v",))):
            assert store.reader.count(Filter((term,)), soon()).requests == total
        question = StatsQuery(filter_=Filter(), from_us=A_TIMESTAMP, to_us=A_TIMESTAMP + 1, bucket_s=3600, by=field)
        groups = store.reader.stats(question, soon()).groups
        assert (value, total) in [(group.value, group.total.requests) for group in groups]


def test_namespaces_are_found_by_a_prefix_among_many_that_only_contain_it(store: Store) -> None:
    found = ["ra", "ra%", "ra_b", "rab", "raé", "ra\U0010ffff"]
    others = ["r", "RA", "rb", "era", "éra", *(f"x{number}-ra" for number in range(200))]
    store.commit(*(an_entry(namespace=name, started_at=at) for at, name in enumerate([*others[:99], *found])))
    store.commit(*(an_entry(namespace=name, started_at=at) for at, name in enumerate(others[99:])))
    store.labels.change(LabelChange(namespace="rab", pinned=True))
    store.labels.change(LabelChange(namespace="ra-empty", pinned=True))
    assert sorted(names(store, prefix="ra")[0]) == sorted([*found, "ra-empty"])
    assert names(store, prefix="ra_") == (["ra_b"], None)
    assert names(store, prefix="ra\U0010ffff") == (["ra\U0010ffff"], None)
    assert names(store, text="B", prefix="ra", sort="requests") == (["ra_b", "rab"], None)
    assert sorted(names(store, prefix="ra", pinned=True)[0]) == ["ra-empty", "rab"]
    shown, cursor = names(store, prefix="ra", limit=2)
    while cursor is not None:
        more, cursor = names(store, prefix="ra", limit=2, after=cursor)
        shown += more
    assert shown == names(store, prefix="ra")[0]


@pytest.mark.parametrize("field", ["", "seq", "id", "requests; --", "outcome"])
def test_values_of_an_unknown_field_are_rejected(store: Store, field: str) -> None:
    with pytest.raises(BadFilter):
        store.reader.values(field, "", 5, soon())


def test_a_record_is_found_by_each_foreign_id(store: Store) -> None:
    entry = an_entry(provider_request_id="req_1", completion_id="chatcmpl-1", client_request_id="mine")
    later = an_entry(client_request_id="mine", completion_id="mine")
    store.commit(entry, an_entry(completion_id="chatcmpl-2"))
    store.commit(later)
    for foreign_id in ("req_1", "chatcmpl-1"):
        assert [record.id for record in store.reader.find(foreign_id, 5)] == [entry.record.id]
    assert [record.id for record in store.reader.find("mine", 5)] == [later.record.id, entry.record.id]
    assert [record.id for record in store.reader.find("mine", 1)] == [later.record.id]
    assert store.reader.find("nothing", 5) == []


def test_pinned_namespaces_among_many_are_found_wherever_they_are(many: Store) -> None:
    empty = "without a request"
    for sort in SORTS:
        found, _ = many.reader.namespaces(NamespaceQuery(sort=sort), 10_000, None, soon())
        rows = [row.namespace for row in found if row.namespace != empty]
        for name in (rows[3], rows[1_000], rows[1_990], empty):
            many.labels.change(LabelChange(namespace=name, pinned=True))
        whole = [*rows, empty]
        is_pinned = {
            row.namespace
            for row in many.reader.namespaces(NamespaceQuery(pinned=True, sort=sort), 100, None, soon())[0]
        }
        assert {rows[3], rows[1_000], rows[1_990], empty} <= is_pinned
        assert names(many, sort=sort, pinned=True)[0] == [name for name in whole if name in is_pinned]
        rest = [name for name in whole if name not in is_pinned]
        assert names(many, sort=sort, pinned=False, limit=30)[0] == rest[:30]
        assert names(many, sort=sort, limit=10_000)[0] == whole


def test_values_of_all_fields_are_found_by_a_part_of_them(store: Store) -> None:
    store.commit(
        an_entry(user="anna@example.com", namespace="globex", model="gpt-4o", properties={"team": "Anna"}),
        an_entry(user="anna@example.com", session="run-anna-2", namespace="Anna%", model=None, properties={}),
        an_entry(user="joanna", namespace="acme", model="gpt-4o", properties={"team": "ann"}),
    )

    def found(text: str, limit: int = 10) -> list[tuple[str, str, int]]:
        result = store.reader.find_values(text, limit, soon())
        assert result.is_complete
        return [tuple(each) for each in result.values]

    assert found("anna") == [
        ("property.team", "Anna", 1),
        ("user", "anna@example.com", 2),
        ("namespace", "Anna%", 1),
        ("session", "run-anna-2", 1),
        ("user", "joanna", 1),
    ]
    assert found("ANNA@example.com") == [("user", "anna@example.com", 2)]
    assert found("a%") == [("namespace", "Anna%", 1)]
    assert found("gpt", 1) == [("model", "gpt-4o", 2)]
    assert found("nobody") == []
