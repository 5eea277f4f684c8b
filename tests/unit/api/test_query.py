"""Test the parameters, errors and suggestions that are returned for a query."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.api_log import client_of, log_of, record_of
from tests.support.asgi import Client
from tests.support.memory_store import MemoryStore

from relaybook.api.query import parsed_query
from relaybook.log.ask.values import completions
from relaybook.log.query.completion import KnownValues
from relaybook.log.query.filters import NAMES, BadFilter
from relaybook.log.query.parameters import parse_filter
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable

CLIENT = client_of(
    log_of(
        record_of(1, namespace="production", model="gpt-4o"),
        record_of(2, namespace="production", properties={"channel": "iOS"}),
        record_of(3, namespace="my channel"),
    )
)


def read(text: str, caret: int | None = None, client: Client = CLIENT) -> Any:
    response = client.get(f"/api/query?{urlencode({'q': text} | ({} if caret is None else {'caret': caret}))}")
    assert response.status == 200
    return response.json()


def test_a_query_becomes_parameters_and_tokens() -> None:
    parsed = read('model:gpt-4o* -"my refund" property.User_Id:7')
    assert parsed["params"] == [
        ["begins.model", "gpt-4o"],
        ["not.words", "my refund"],
        ["property.user-id", "7"],
    ]
    assert parsed["error"] is None
    assert parsed["request_id"] is None
    assert parsed["tokens"] == [
        {"start": 0, "end": 13, "field": "model", "negated": False},
        {"start": 14, "end": 26, "field": "words", "negated": True},
        {"start": 27, "end": 45, "field": "property.user-id", "negated": False},
    ]


def test_an_empty_query_is_valid() -> None:
    parsed = read("")
    assert (parsed["params"], parsed["tokens"], parsed["error"]) == ([], [], None)
    assert client_of().get("/api/query").json()["params"] == []


def test_an_invalid_query_is_described_and_has_no_parameters() -> None:
    parsed = read("refund modell:o1 late")
    assert parsed["params"] == []
    assert len(parsed["tokens"]) == 3
    error = parsed["error"]
    assert (error["start"], error["end"], error["code"], error["replacement"]) == (7, 16, "unknown_name", "model:o1")
    assert error["message"].startswith("'modell' is not a known name. Did you mean model?")


def test_offsets_are_in_utf_16_code_units() -> None:
    text = "\U0001f600a namespace:"
    parsed = read(text, 14)
    assert parsed["tokens"][1] == {"start": 4, "end": 14, "field": "namespace", "negated": False}
    assert (parsed["error"]["start"], parsed["error"]["end"]) == (4, 14)
    assert (parsed["suggestions"]["start"], parsed["suggestions"]["end"]) == (4, 14)


def test_a_query_that_is_only_an_id_has_the_id() -> None:
    assert read(" chatcmpl-9xYz ")["request_id"] == "chatcmpl-9xYz"


def test_values_of_the_log_are_suggested_with_counts() -> None:
    assert read("late -namespace:p")["suggestions"] == {
        "start": 5,
        "end": 17,
        "items": [
            {"insert": "-namespace:production ", "label": "production", "hint": None, "requests": 2, "is_filter": False}
        ],
    }
    (found,) = read("PROD")["suggestions"]["items"]
    assert (found["insert"], found["hint"], found["is_filter"]) == ("namespace:production ", "namespace", True)
    assert read("chan")["suggestions"]["items"][0]["insert"] == "property.channel:"


def test_the_query_is_completed_at_the_caret() -> None:
    suggestions = read("mo late", 2)["suggestions"]
    assert (suggestions["start"], suggestions["end"]) == (0, 2)
    assert [item["label"] for item in suggestions["items"]] == ["model:"]


@pytest.mark.parametrize("caret", ["-1", "5", "x", "", "٣", "9" * 30])
def test_an_invalid_caret_is_an_error(caret: str) -> None:
    response = CLIENT.get(f"/api/query?q=late&caret={quote(caret)}")
    assert response.status == 400
    assert response.json()["error"]["param"] == "caret"
    assert "from 0 to 4" in response.json()["error"]["message"]


def test_unknown_parameters_are_rejected() -> None:
    assert CLIENT.get("/api/query?q=late&model=x").json()["error"]["param"] == "model"


def test_a_query_that_is_too_long_is_not_split() -> None:
    parsed = read("model:" + "x" * 5000)
    assert parsed["error"]["code"] == "too_long"
    assert parsed["tokens"] == parsed["suggestions"]["items"] == []


@pytest.mark.parametrize("error", [DeadlinePassed(), StoreUnavailable("disk I/O error")])
def test_a_store_that_cannot_be_read_in_time_suggests_no_values(error: Exception) -> None:
    class Unreadable(MemoryStore):
        def values(self, *_: Any) -> Any:
            raise error

        find_values = values

    suggestions = read("namespace:", client=client_of(Unreadable()))["suggestions"]
    assert suggestions["items"] == []
    assert completions(Unreadable(), 0).list_values("namespace", "") == []
    assert read("tea", client=client_of(Unreadable()))["suggestions"]["items"] == []


@given(
    st.text(max_size=30)
    | st.lists(st.sampled_from([*NAMES, "property.x", ":", '"', "-", "*", " ", ">2s", "\U0001f600", "-1h"])).map(
        "".join
    )
)
def test_the_parameters_mean_the_same_as_the_query(text: str) -> None:
    parsed = parsed_query(text, len(text), KnownValues(lambda *_: [], lambda _: []))

    def terms(*pairs: tuple[str, str]) -> Any:
        try:
            # With a fixed current time, relative timestamps give equal results.
            return parse_filter(pairs, 10**15)
        except BadFilter as error:
            return error.parameter, error.reason

    if parsed.error is None:
        assert terms(*parsed.params) == terms(("q", text))
    else:
        assert parsed.params == []
        assert isinstance(terms(("q", text)), tuple)
        assert 0 <= parsed.error.start <= parsed.error.end
