"""Test that a thread is listed in pages, in recording order, and with the new messages of each request."""

from typing import Any

import pytest
from tests.support.api_log import START_US, client_of, entry_of, record_of
from tests.support.bodies import reading_of, request_of
from tests.support.memory_store import MemoryStore

from relaybook.log.formats.message_chain import build_chain
from relaybook.log.record import encode_chain
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Batch


def entry(number: int, messages: list[str], response: str, **fields: Any) -> Entry:
    roles = ("user", "assistant")
    request_json = {"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(messages)]}
    response_json = {"choices": [{"index": 0, "message": {"role": "assistant", "content": response}}]}
    made = entry_of(record_of(number, **({"namespace": "user-1", "cost_usd": 0.5} | fields)))
    chain = build_chain(request_of(request_json), reading_of(response_json).response)
    assert chain is not None
    made.chain = encode_chain(chain)
    return made


def conversation(turns: int, first: int = 1, **fields: Any) -> list[Entry]:
    texts = [f"{part} {turn}" for turn in range(1, turns + 1) for part in ("question", "answer")]
    return [entry(first + turn, texts[: 2 * turn + 1], texts[2 * turn + 1], **fields) for turn in range(turns)]


def log(*entries: Entry) -> MemoryStore:
    store = MemoryStore()
    store.commit(Batch(entries=list(entries)))
    return store


def thread(store: MemoryStore, query: str = "namespace=user-1") -> Any:
    response = client_of(store).get(f"/api/thread?{query}")
    assert response.status == 200
    return response.json()


def test_a_conversation_is_listed_turn_by_turn() -> None:
    result = thread(log(*conversation(3), entry_of(record_of(9, namespace="other"))))
    ids = [record_of(number).id for number in (1, 2, 3)]
    assert [row["id"] for row in result["data"]] == ids
    assert [row["turn"] for row in result["data"]] == [1, 2, 3]
    assert [row["follows"] for row in result["data"]] == [None, *ids[:2]]
    assert {row["conversation"] for row in result["data"]} == {ids[0]}
    assert [row["new_messages"] for row in result["data"]] == [
        {"from": 0, "count": 1},
        {"from": 2, "count": 1},
        {"from": 4, "count": 1},
    ]
    [whole] = result["conversations"]
    assert (whole["requests"], whole["turns"], whole["cost_usd"]) == (3, 3, 1.5)
    assert result["total"]["requests"] == 3
    assert result["is_thread"] is True
    assert (result["next_cursor"], result["complete"]) == (None, True)


def test_requests_whose_links_were_not_read_in_time_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = log(*conversation(5))
    links = store.links
    monkeypatch.setattr(store, "links", lambda *arguments: links(*arguments)[:2])
    result = thread(store, "namespace=user-1&limit=3")
    assert [row["turn"] for row in result["data"]] == [1, 1, 2]
    assert result["complete"] is False
    earlier = thread(store, f"namespace=user-1&limit=3&cursor={result['next_cursor']}")
    assert len(result["data"]) + len(earlier["data"]) == 5


def test_a_thread_with_a_request_from_1970_has_a_total() -> None:
    result = thread(log(*conversation(2), *conversation(1, first=9, started_at=1_000_000)))
    assert result["total"]["requests"] == 3


def test_a_page_has_links_to_requests_of_earlier_pages() -> None:
    store = log(*conversation(7))
    result = thread(store, "namespace=user-1&limit=3")
    assert [row["turn"] for row in result["data"]] == [5, 6, 7]
    assert result["data"][0]["follows"] == record_of(4).id
    earlier = thread(store, f"namespace=user-1&limit=3&cursor={result['next_cursor']}")
    assert [row["turn"] for row in earlier["data"]] == [2, 3, 4]
    assert earlier["total"]["requests"] == 7


def test_a_page_can_be_around_an_old_request() -> None:
    store = log(*conversation(9))
    result = thread(store, f"namespace=user-1&limit=3&around={record_of(4).id}")
    assert [row["turn"] for row in result["data"]] == [3, 4, 5]
    assert result["data"][0]["follows"] == record_of(2).id
    earlier = thread(store, f"namespace=user-1&limit=3&cursor={result['next_cursor']}")
    assert [row["turn"] for row in earlier["data"]] == [1, 2]


def test_an_invalid_around_is_rejected_with_a_reason() -> None:
    client = client_of(log(*conversation(2)))
    other = client_of(log(*conversation(2), entry_of(record_of(9, namespace="other"))))
    foreign = other.get(f"/api/thread?namespace=user-1&around={record_of(9).id}")
    assert (foreign.status, foreign.json()["error"]["param"]) == (400, "around")
    assert "another thread" in foreign.json()["error"]["message"]
    both = client.get(f"/api/thread?namespace=user-1&around={record_of(1).id}&cursor=o5")
    assert (both.status, both.json()["error"]["param"]) == (400, "around")
    unknown = client.get(f"/api/thread?namespace=user-1&around={record_of(99).id}")
    assert (unknown.status, unknown.json()["error"]["param"]) == (404, "around")
    assert "(Service-Request-Id)" in unknown.json()["error"]["message"]


def test_a_retry_repeats_the_failed_request() -> None:
    store = log(*conversation(2), entry(8, ["question 1", "answer 1", "question 2"], "another"))
    [_, second, third] = thread(store)["data"]
    assert (third["turn"], third["repeats"], third["is_retry"]) == (2, second["id"], False)


@pytest.mark.parametrize(
    ("first", "second", "is_retry"),
    [
        ({}, {}, False),
        ({"failed": True}, {}, True),
        ({"failed": True, "model": "llama4"}, {"model": "llama3.2"}, False),
        ({}, {"retry_count": 1}, True),
        ({}, {"retry_count": 0}, False),
        ({"failed": True}, {"retry_count": 0}, True),
        ({"failed": True, "started_at": START_US}, {"started_at": START_US + 60_000_000}, True),
        ({"failed": True, "started_at": START_US}, {"started_at": START_US + 60_000_001}, False),
        ({"failed": True, "started_at": START_US}, {"started_at": START_US + 60_000_001, "retry_count": 1}, True),
    ],
)
def test_a_repeat_is_a_retry_soon_after_a_failure_of_the_same_model_or_if_the_sdk_says_so(
    first: dict[str, Any], second: dict[str, Any], is_retry: bool
) -> None:
    store = log(entry(1, ["question"], "one", **first), entry(2, ["question"], "two", **second))
    assert [row["is_retry"] for row in thread(store)["data"]] == [False, is_retry]


def test_every_attempt_lists_all_attempts() -> None:
    failed = {"failed": True, "status": 429}
    store = log(
        entry(1, ["question"], "unrelated"),
        entry(2, ["question"], "a", **failed, retry_count=0),
        entry(3, ["other"], "b", **failed),
        entry(4, ["question"], "c", outcome="client_closed", retry_count=1),
        entry(5, ["question"], "d", retry_count=2),
        entry(6, ["question"], "asked again", retry_count=0),
    )
    ids = [record_of(number).id for number in (2, 4, 5)]
    for attempt in ids:
        found = client_of(store).get(f"/api/requests/{attempt}").json()["attempts"]
        assert [each["id"] for each in found] == ids
        assert [each["result"]["code"] for each in found] == ["rate_limited", "client_disconnected", "complete"]
    for number in (1, 3, 6):
        assert client_of(store).get(f"/api/requests/{record_of(number).id}").json()["attempts"] == []


@pytest.mark.parametrize("thread_of", ["namespace=nobody", "property.session=nobody", "namespace=user-1&cursor=o1"])
def test_a_thread_without_requests_is_marked_as_no_thread(thread_of: str) -> None:
    result = client_of(log(*conversation(3))).get(f"/api/thread?{thread_of}").json()
    assert (result["data"], result["is_thread"]) == ([], False)


def test_unrelated_requests_are_marked_as_no_thread() -> None:
    store = log(*(entry(number, [f"q{number}"], f"a{number}") for number in range(1, 9)), *conversation(2, 20))
    result = thread(store)
    assert result["is_thread"] is False
    assert len(result["conversations"]) == 9


def test_a_property_value_is_a_thread_too() -> None:
    store = log(*conversation(2, properties={"user-id": "42"}))
    assert len(thread(store, "property.User_Id=42")["data"]) == 2
    assert thread(store, "property.user-id=43")["data"] == []


def test_a_session_is_a_thread_too() -> None:
    store = log(*conversation(2, session="s-1"), *conversation(3, 20, session="s-2"), *conversation(1, 30))
    result = thread(store, "session=s-1")
    assert [row["session"] for row in result["data"]] == ["s-1", "s-1"]
    assert [row["turn"] for row in result["data"]] == [1, 2]
    assert result["total"]["requests"] == 2
    assert thread(store, "session=s-3")["data"] == []


def test_sessions_of_one_namespace_with_the_same_first_prompt_are_separate_conversations() -> None:
    store = log(*conversation(2, session="s-1"), *conversation(3, 20, session="s-2"))
    result = thread(store)
    assert [each["requests"] for each in result["conversations"]] == [2, 3]
    assert [row["repeats"] for row in result["data"]] == [None] * 5


def test_a_request_without_messages_is_listed_too() -> None:
    [row] = thread(log(entry_of(record_of(1, namespace="user-1"))))["data"]
    assert (row["turn"], row["new_messages"]) == (1, {"from": 0, "count": 0})


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("", "namespace"),
        ("namespace=a&namespace=b", "namespace"),
        ("namespace=a&property.x=1", "namespace"),
        ("not.namespace=a", "namespace"),
        ("namespace_prefix=a", "namespace"),
        ("model=a", "namespace"),
        ("namespace=a&status=error", "status"),
        ("namespace=a&limit=0", "limit"),
        ("namespace=a&cursor=x", "cursor"),
        ("namespace=a&cursor=n5", "cursor"),
    ],
)
def test_anything_but_one_thread_is_rejected_by_name(query: str, param: str) -> None:
    response = client_of(MemoryStore()).get(f"/api/thread?{query}")
    assert (response.status, response.json()["error"]["param"]) == (400, param)
