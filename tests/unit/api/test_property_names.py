"""Test that a property of any name can be filtered by, listed, charted, saved and completed."""

import json
from urllib.parse import quote, urlencode

import pytest
from tests.support.api_log import app_of, client_of, log_of, record_of
from tests.support.asgi import Client
from tests.support.each import check_each
from tests.support.memory_store import MemoryStore

from relaybook.log.query.language import parameters_of, quoted_value, written_name, written_value
from relaybook.tags import property_name, with_metadata

JSON = ("content-type", "application/json")
#: Names that clients send in the body's ``metadata``.
NAMES = [
    *("my app", "a:b", "langfuse.trace.name", "gen_ai:request", "https://x.example/a?b=c&d#e", "a/b", "../x", "100%"),
    *('"', '"a"', 'a"b', "a\\", '\\"', "'", "(a)", "[0]", "{x}", "-a", "--", "*", "a*", "a*b", "=", "a=b", "+", "&"),
    *("a>5", "<b>", "#", "not.a", "begins.a", "property.a", "q", "from", "constructor", "__proto__", "A_B", "x" * 300),
    *("größe", "e\u0301t\u00e9", "नाम", "名前", "ИМЯ", "😀", "a\u00a0b", "a\u200bb", "a\nb", "a\tb", "a\0b"),
    "x y " * 100,
]


def a_log(name: str) -> tuple[Client, str]:
    """Return a log with one request that has a property of this name, and the name under which it is stored."""
    properties, _ = with_metadata({}, [(name, "a value")])
    (stored,) = properties
    return client_of(log_of(record_of(1, properties=properties), record_of(2, properties={"zz": "a value"}))), stored


def ids(client: Client, *pairs: tuple[str, str]) -> list[str]:
    response = client.get(f"/api/requests?{urlencode(pairs)}")
    assert response.status == 200, response.json()
    return [row["id"] for row in response.json()["data"]]


ONE, TWO = record_of(1).id, record_of(2).id


def test_a_property_is_found_by_parameters_and_by_a_query() -> None:
    def check(name: str) -> None:
        client, stored = a_log(name)
        for each in (name, stored):
            assert ids(client, (f"property.{each}", "a value")) == [ONE]
            assert ids(client, (f"begins.property.{each}", "a v")) == [ONE]
            assert ids(client, (f"not.property.{each}", "a value")) == [TWO]
            written = written_name(f"property.{each}")
            assert ids(client, ("q", f'{written}:"a value"')) == [ONE]
            assert ids(client, ("q", f"{written}:a*")) == [ONE]
            assert ids(client, ("q", f'-{written}:"a value"')) == [TWO]

    check_each(NAMES, check, repr)


def test_a_property_is_listed_and_charted() -> None:
    def check(name: str) -> None:
        client, stored = a_log(name)
        assert stored in [row["value"] for row in client.get("/api/values/property").json()["data"]]
        for each in (name, stored):
            listed = client.get(f"/api/values/{quote(f'property.{each}', safe='')}").json()
            assert listed == {"data": [{"value": "a value", "requests": 1}]}
            query = urlencode({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "by": f"property.{each}"})
            groups = client.get(f"/api/stats?{query}").json()["groups"]
            assert {f"property.{stored}": "a value"} in [group["by"] for group in groups]
            thread = client.get(f"/api/thread?{urlencode({f'property.{each}': 'a value'})}").json()
            assert [row["id"] for row in thread["data"]] == [ONE]

    check_each(NAMES, check, repr)


def test_a_property_is_completed_from_its_name_and_from_what_was_typed() -> None:
    def check(name: str) -> None:
        client, stored = a_log(name)
        written = written_name(f"property.{stored}")
        for typed in ("property.", stored[:1], written[:11], written[:-1], f"-{written[:11]}"):
            if not typed.strip('-"') or (any(map(str.isspace, typed.partition(".")[2])) and '"' not in typed):
                continue
            items = client.get(f"/api/query?{urlencode({'q': typed})}").json()["suggestions"]["items"]
            assert f"{'-' * typed.startswith('-property.')}{written}:" in [item["insert"] for item in items], typed
        parsed = client.get(f"/api/query?{urlencode({'q': f'{written}:a'})}").json()
        assert [item["insert"] for item in parsed["suggestions"]["items"]] == [f'{written}:"a value" ']
        assert (parsed["error"], parsed["params"]) == (None, [[f"property.{stored}", "a"]])
        assert parsed["tokens"] == [
            {"start": 0, "end": len(f"{written}:a".encode("utf-16-le")) // 2, "field": f"property.{stored}"}
            | {"negated": False}
        ]

    check_each(NAMES, check, repr)


def test_a_filter_by_a_property_is_saved() -> None:
    def check(name: str) -> None:
        store = MemoryStore()
        client = Client(app_of(store, saved_filters=store))
        body = json.dumps({"params": [[f"not.property.{name}", "x"]]}).encode()
        saved = client.request("PUT", "/api/saved-filters/mine", JSON, body=body)
        assert saved.status == 200
        params = client.get("/api/saved-filters").json()["data"][0]["params"]
        assert params == saved.json()["params"]
        assert ids(client, *((key, value) for key, value in params)) == []

    check_each(NAMES, check, repr)


def test_what_a_query_cannot_mean_is_an_error_at_the_whole_term() -> None:
    def check(name: str) -> None:
        written = written_name(f"property.{property_name(name)}")
        for text in (written, f"{written}>5", f"{written}="):
            error = client_of().get(f"/api/query?{urlencode({'q': f'a {text}'})}").json()["error"]
            assert (error["code"], error["start"]) in (("missing_colon", 2), ("missing_value", 2)), text

    check_each(NAMES, check, repr)


@pytest.mark.parametrize(
    "query", ['property."a b', '-property."a\\":x', 'property."', 'Property."a b":x', "property.:x"]
)
def test_incomplete_names_are_errors(query: str) -> None:
    error = client_of().get(f"/api/query?{urlencode({'q': query})}").json()["error"]
    assert error["code"] in ("open_quote", "unknown_name")
    assert error["replacement"] is None or parameters_of(error["replacement"], 0)


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u3000"])
def test_an_empty_name_is_rejected(name: str) -> None:
    for target in (
        f"/api/requests?{urlencode({f'property.{name}': 'x'})}",
        f"/api/requests?{urlencode({'q': f'property.{quoted_value(name)}:x'})}",
        f"/api/values/{quote(f'property.{name}', safe='')}",
        f"/api/stats?{urlencode({'by': f'property.{name}'})}",
    ):
        assert client_of().get(target).status == 400, target


def test_written_values_follow_written_names() -> None:
    assert f"{written_name('property.my app')}:{written_value('x y')}" == 'property."my app":"x y"'
    assert [written_name(name) for name in ("model", "property.user-id", 'property.a"b', 'property."a')] == [
        *("model", "property.user-id", 'property.a"b', 'property."\\"a"')
    ]
