"""Conversations with the official SDK are shown turn by turn, and can be found by their text."""

from typing import Any
from urllib.parse import quote

import pytest
from tests.conformance.sdk.calls import TOOLS, World, unique
from tests.support.server import wait_until


def thread(world: World, namespace: str, count: int) -> list[dict[str, Any]]:
    """Wait until a thread has this many rows, and return the rows."""
    found = wait_until(
        lambda: rows if len(rows := world.server.get(f"/api/thread?namespace={namespace}")["data"]) >= count else [],
        what=f"the thread {namespace}",
    )
    assert len(found) == count
    return found


def send(world: World, namespace: str, messages: list[Any], *, stream: bool = False, **more: Any) -> Any:
    """Send messages. Returns the message of the response, in the form that the next request can contain."""
    client = world.client(namespace)
    if stream:
        phrases = client.chat.completions.create(model="gpt-4o-mini", messages=messages, stream=True, **more)
        text = "".join(phrase.choices[0].delta.content or "" for phrase in phrases if phrase.choices)
        return {"role": "assistant", "content": text}
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages, **more).choices[0].message


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_conversation_is_shown_turn_by_turn(world: World, stream: bool) -> None:
    namespace = unique("thread")
    messages: list[Any] = [{"role": "system", "content": "Be brief."}]
    for turn in range(4):
        messages.append({"role": "user", "content": f"Question {turn} of {namespace}"})
        messages.append(send(world, namespace, messages, stream=stream))
        messages[0] = {"role": "system", "content": f"Be brief. It is turn {turn}."}
    rows = thread(world, namespace, 4)
    assert [row["turn"] for row in rows] == [1, 2, 3, 4]
    assert [row["follows"] for row in rows] == [None, *(row["id"] for row in rows[:3])]
    assert [row["new_messages"] for row in rows] == [{"from": 2 * n + (n > 0), "count": 1 + (n == 0)} for n in range(4)]


def test_trimmed_history_and_tool_calls_continue_a_conversation(world: World) -> None:
    namespace = unique("thread")
    messages: list[Any] = []
    for turn in range(3):
        messages.append({"role": "user", "content": f"Question {turn} of {namespace}"})
        messages.append(send(world, namespace, messages[-4:]))
    with_tool = send(
        world,
        namespace,
        [*messages, {"role": "user", "content": "And the weather?"}],
        tools=TOOLS,
        tool_choice="required",
    )
    assert with_tool.tool_calls
    results = [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in with_tool.tool_calls]
    send(
        world, namespace, [*messages, {"role": "user", "content": "And the weather?"}, with_tool, *results], tools=TOOLS
    )
    rows = thread(world, namespace, 5)
    assert {row["conversation"] for row in rows} == {rows[0]["id"]}
    assert [row["turn"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[4]["new_messages"]["count"] == len(results)


def test_a_different_first_message_starts_another_conversation(world: World) -> None:
    namespace = unique("thread")
    first = [{"role": "user", "content": f"One {namespace}"}]
    send(world, namespace, first)
    send(world, namespace, [{"role": "user", "content": f"Two {namespace}"}])
    send(world, namespace, first)
    rows = thread(world, namespace, 3)
    assert [row["follows"] for row in rows] == [None] * 3
    assert [row["repeats"] for row in rows] == [None, None, rows[0]["id"]]


def test_a_call_is_found_by_the_text_of_its_prompt_and_its_response(world: World) -> None:
    namespace, word = unique("search"), unique("zebra").replace("-", "")
    messages = send(
        world, namespace, [{"role": "user", "content": f"Tell me of the {word.upper()}, 請問退款"}], stream=True
    )
    words = messages["content"].split()[:3]
    for query in (word, f'"of the {word}"', f"{word[:9]}*", f"退款 {word}", f'{word} "{" ".join(words)}"'):
        path = f"/api/requests?q={quote(query)}&namespace={namespace}"
        [row] = wait_until(lambda path=path: world.server.get(path)["data"], what=query)
        assert row["namespace"] == namespace
    assert world.server.get(f"/api/requests?q={word}+nothing{word}")["data"] == []


def test_text_that_must_not_be_kept_is_not_found(world: World) -> None:
    namespace, word = unique("search"), unique("secret").replace("-", "")
    client = world.client(namespace, default_headers={"Service-Namespace": namespace, "Service-Log": "no-bodies"})
    client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": word}])
    [hidden] = world.recorded(namespace)
    send(world, namespace, [{"role": "user", "content": f"other {word}"}])
    wait_until(lambda: world.server.get(f"/api/requests?q={word}")["data"], what="the other one")
    assert hidden["id"] not in {row["id"] for row in world.server.get(f"/api/requests?q={word}")["data"]}
    rows = thread(world, namespace, 2)
    assert rows[0]["new_messages"] == {"from": 0, "count": 0}
