"""Test that the tool turns of client programs are linked, although clients write the model's tool calls anew.

Each client is described as its source writes the second request: which fields an assistant message has, and how the
arguments of a call are spelled. The model's response has the same arguments in several other spellings.
"""

import json
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import pytest
from tests.golden import chat_messages, message_exchanges, response_exchanges
from tests.golden.exchange import STREAM_HEAD, GoldenExchange, encode
from tests.golden.facts import entry_of
from tests.support.each import check_each

from relaybook.log.conversations import Position, positions_of
from relaybook.log.store.port import Link

ARGUMENTS: dict[str, Any] = {
    "city": "Zürich 😀",
    "days": 2,
    "units": ["°C", "a/b <c> & d"],
    "when": {"to": None, "from": ""},
}
ID, ITEM_ID = "call_Ab3", "fc_9"
RESULT = "21 °C"


def javascript(arguments: Any) -> str:
    """Spell arguments as ``JSON.stringify``: compact, without escapes."""
    return json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)


def python(arguments: Any) -> str:
    """Spell arguments as ``json.dumps``: spaced, escaped."""
    return json.dumps(arguments)


def python_raw(arguments: Any) -> str:
    """Spell arguments as ``json.dumps`` with ``ensure_ascii=False``: spaced, without escapes."""
    return json.dumps(arguments, ensure_ascii=False)


def rust(arguments: Any) -> str:
    """Spell arguments as serde_json: compact, sorted by key."""
    return json.dumps(arguments, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def go(arguments: Any) -> str:
    """Spell arguments as Go's encoding/json: like Rust, with HTML characters escaped."""
    text = rust(arguments)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def indented(arguments: Any) -> str:
    return json.dumps(arguments, indent=2, ensure_ascii=False)


def slashes_escaped(arguments: Any) -> str:
    """Spell arguments as PHP's ``json_encode``."""
    return json.dumps(arguments, separators=(",", ":")).replace("/", r"\/")


#: The spellings in which models and servers send arguments.
SPELLINGS = (javascript, python, python_raw, rust, go, indented, slashes_escaped)


def call_of(arguments: str, **more: Any) -> dict[str, Any]:
    return {"id": ID, "type": "function", "function": {"name": "get_weather", "arguments": arguments}} | more


class Client(NamedTuple):
    """``after`` returns the messages with which a client continues a response with text, and a call."""

    name: str
    api: Any
    after: Callable[[str], list[dict[str, Any]]]
    #: The text of the response beside the call.
    text: str = ""


def tool(content: Any = RESULT) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ID, "content": content}


def chat(write: Callable[[Any], str], **fields: Any) -> Callable[[str], list[dict[str, Any]]]:
    """Return how a client continues a chat completion: it parses the arguments and writes them anew."""

    def after(arguments: str) -> list[dict[str, Any]]:
        call = call_of(write(json.loads(arguments or "{}")))
        return [{"role": "assistant", "tool_calls": [call]} | fields, tool()]

    return after


def function_call(arguments: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": ID, "name": "get_weather", "arguments": arguments} | more


OUTPUT = {"type": "function_call_output", "call_id": ID, "output": RESULT}


def items(
    write: Callable[[Any], str], before: tuple[Any, ...] = (), after_call: tuple[Any, ...] = (), **fields: Any
) -> Callable[[str], list[dict[str, Any]]]:
    """Return how a client continues a response with items."""

    def after(arguments: str) -> list[dict[str, Any]]:
        return [*before, function_call(write(json.loads(arguments or "{}")), **fields), *after_call, OUTPUT]

    return after


def blocks(*before: dict[str, Any], **fields: Any) -> Callable[[str], list[dict[str, Any]]]:
    """Return how a client continues a message with blocks."""

    def after(arguments: str) -> list[dict[str, Any]]:
        call = {"type": "tool_use", "id": ID, "name": "get_weather", "input": json.loads(arguments or "{}")} | fields
        result = {"type": "tool_result", "tool_use_id": ID, "content": RESULT}
        return [{"role": "assistant", "content": [*before, call]}, {"role": "user", "content": [result]}]

    return after


def unchanged(arguments: Any) -> str:
    """Spell arguments as parsed from ``indented``, in another order of keys."""
    return json.dumps(dict(reversed(arguments.items())), ensure_ascii=False)


CHAT, RESPONSE, MESSAGE = chat_messages, response_exchanges, message_exchanges
SAID = {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
TEXT = {"type": "text", "text": "I look."}
CLIENTS = (
    # Sources: ai 6.0.326 with @ai-sdk/openai-compatible 2.0.92, @ai-sdk/openai 3.0.141, @ai-sdk/anthropic 3.0.140
    Client("opencode", CHAT, chat(javascript, content="I look.", reasoning_content="Hm."), "I look."),
    Client("Vercel AI SDK, openai-compatible", CHAT, chat(javascript, content=None)),
    Client("Vercel AI SDK, openai chat", CHAT, chat(javascript, content=None)),
    Client("Vercel AI SDK, openai responses", RESPONSE, items(javascript)),
    Client("Vercel AI SDK, openai responses with text", RESPONSE, items(javascript, (SAID,)), "I look."),
    Client("Vercel AI SDK, anthropic", MESSAGE, blocks(TEXT), "I look."),
    Client("opencode, anthropic", MESSAGE, blocks(cache_control={"type": "ephemeral"})),
    Client("Cline", CHAT, chat(javascript, content="")),
    Client("Continue", CHAT, chat(javascript, content=" ")),  # some servers refuse an empty content
    Client("Qwen Code", CHAT, chat(javascript, content="I look."), "I look."),
    Client("LangChain Python", CHAT, chat(python_raw, content=None)),
    Client("LangChain Python, anthropic", MESSAGE, blocks(TEXT), "I look."),
    Client("LangChain JS", CHAT, chat(javascript, content="")),
    Client("LangChain JS, responses", RESPONSE, items(javascript, id=ITEM_ID)),
    Client("haystack", CHAT, chat(python_raw)),
    # It writes text after the calls.
    Client("haystack, responses", RESPONSE, items(python_raw, (), (SAID,), id=ITEM_ID), "I look."),
    Client("llm", CHAT, chat(python, content=None)),
    Client("llm, responses", RESPONSE, items(python)),
    Client("aichat", CHAT, chat(rust, content="")),
    Client("a client in Go", CHAT, chat(go, content="I look."), "I look."),
    Client("a client that reorders keys", CHAT, chat(unchanged, content=None)),
)


class Turn(NamedTuple):
    """A request, and the response to it: a message, output items or blocks."""

    messages: list[dict[str, Any]]
    response: Any


def linked(api: Any, turns: list[Turn], *, is_stream: bool) -> dict[str, Position]:
    """Return the positions of recorded requests."""
    links = []
    for number, turn in enumerate(turns, 1):
        field = "input" if api is RESPONSE else "messages"
        request = encode({"model": "gpt-5", "max_tokens": 9, field: turn.messages})
        own = {"id": f"own_{number}"}
        if is_stream:
            chunks, head = api.stream_of(turn.response, **own), STREAM_HEAD
        else:
            body = api.whole_body if api is CHAT else api.body
            chunks, head = (encode(body(turn.response, **own)),), "content-type: application/json"
        path = api.CHAT if api is CHAT else api.PATH
        exchange = GoldenExchange(f"r{number}", path, request, chunks, response_head=head)
        entry = entry_of(exchange)
        links.append(
            Link(
                seq=number,
                id=exchange.name,
                started_at=number,
                failed=entry.record.failed,
                completion_id=entry.record.completion_id,
                session=entry.record.session,
                chain=entry.chain,
                model=entry.record.model,
            )
        )
    return positions_of(links)


def response_of(api: Any, text: str, arguments: str) -> Any:
    """Return a response with a text and a call."""
    if api is CHAT:
        return {"content": text or None, "tool_calls": [call_of(arguments)]}
    if api is RESPONSE:
        before = [api.thought("Look."), *([api.said(text)] if text else [])]
        return [*before, function_call(arguments, id=ITEM_ID, status="completed")]
    call = {"type": "tool_use", "id": ID, "name": "get_weather", "input": json.loads(arguments or "{}")}
    return [*([{"type": "text", "text": text}] if text else []), call]


def answer_of(api: Any) -> Any:
    return {"content": "Sunny."} if api is CHAT else [api.said("Sunny.")] if api is RESPONSE else [api.text("Sunny.")]


ASKED = [{"role": "user", "content": "What is the weather?"}]


def turns_of(client: Client, arguments: str) -> list[Turn]:
    """Return three turns: a question, the result of a tool, and the next question."""
    second = [*ASKED, *client.after(arguments)]
    third = [*second, {"role": "assistant", "content": "Sunny."}, {"role": "user", "content": "And tomorrow?"}]
    api = client.api
    return [
        Turn(ASKED, response_of(api, client.text, arguments)),
        Turn(second, answer_of(api)),
        Turn(third, answer_of(api)),
    ]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_tool_turns_are_linked_in_every_spelling(client: Client) -> None:
    """The model spells the arguments in any way, and responds as a whole or as a stream."""

    def check(case: tuple[Callable[[Any], str], bool]) -> None:
        spell, is_stream = case
        turns = turns_of(client, spell(ARGUMENTS))
        positions = linked(client.api, turns, is_stream=is_stream)
        assert [(each.conversation, each.turn, each.follows, each.repeats) for each in positions.values()] == [
            ("r1", 1, None, None),
            ("r1", 2, "r1", None),
            ("r1", 3, "r2", None),
        ]
        assert positions["r2"].new_from == len(turns[1].messages) - 1
        assert positions["r3"].new_from == len(turns[2].messages) - 1

    check_each(list(product(SPELLINGS, (False, True))), check, lambda case: f"{case[0].__name__}, {case[1]}")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_call_without_arguments_is_linked_in_every_spelling(client: Client) -> None:
    def check(case: tuple[str, bool]) -> None:
        sent, is_stream = case
        positions = linked(client.api, turns_of(client, sent), is_stream=is_stream)
        assert [each.follows for each in positions.values()] == [None, "r1", "r2"]

    check_each(list(product(("", "{}", " {}\n", "{ }"), (False, True))), check)


@pytest.mark.parametrize("keeps_id", [True, False])
@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ('{"a": 1.0}', '{"a":1}'),
        ('{"a": 1e3}', '{"a":1000}'),
        ('{"a": 0.10}', '{"a":0.1}'),
        ('{"a": -0.0}', '{"a":0}'),
        ('{"a": [1.0, {"b": 2.50}]}', '{"a":[1,{"b":2.5}]}'),
        (r'{"a": "\u00fc\u0041\/"}', '{"a":"üA/"}'),
        (r'{"a": "\ud83d\ude00"}', '{"a":"😀"}'),
        ('{"2": 1, "1": 2}', '{"1":2,"2":1}'),  # JavaScript sorts keys that are numbers
        ('{"a": 1, "a": 2}', '{"a":2}'),
        ('{"a": true, "b": null}', '{"b":null,"a":true}'),
    ],
)
def test_arguments_that_are_equal_by_value_are_linked(sent: str, written: str, keeps_id: bool) -> None:
    positions = rewritten(sent, written, id_=ID if keeps_id else "other")
    assert positions["r2"].follows == "r1"


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ('{"id": 12345678901234567890}', '{"id":12345678901234567000}'),  # JavaScript rounds
        ('{"a": 1, "b": null}', '{"a":1}'),  # null is left out
        ('{"a": "x", "unknown": 1}', '{"a":"x"}'),  # validated by a schema
        ('{"a": 1', '{"a":1}'),  # repaired
        ("not json", '{"_raw":"not json"}'),
    ],
)
def test_changed_arguments_are_linked_by_the_id_of_the_call(sent: str, written: str) -> None:
    assert rewritten(sent, written, id_=ID)["r2"].follows == "r1"
    assert rewritten(sent, written, id_="other")["r2"].follows is None


@pytest.mark.parametrize(
    ("sent", "written"), [('{"a": 1}', '{"a": 2}'), ('{"a": [1, 2]}', '{"a": [2, 1]}'), ('{"a": "1"}', '{"a": 1}')]
)
def test_other_arguments_of_another_call_are_not_linked(sent: str, written: str) -> None:
    assert rewritten(sent, written, id_="other")["r2"].follows is None


def rewritten(sent: str, written: str, *, id_: str) -> dict[str, Position]:
    """Return the positions of a request, and of a request with its call as the client has written it."""
    call = call_of(written, id=id_)
    second = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}, tool() | {"tool_call_id": id_}]
    return linked(CHAT, [Turn(ASKED, response_of(CHAT, "", sent)), Turn(second, answer_of(CHAT))], is_stream=False)


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
def test_references_to_stored_items_are_linked(is_stream: bool) -> None:
    """The Vercel AI SDK sends only the ids of reasoning and messages that OpenAI stores, which is the default."""

    def reference(id_: str) -> dict[str, Any]:
        return {"type": "item_reference", "id": id_}

    thought = RESPONSE.thought("Look.")
    second = [*ASKED, reference(thought["id"]), function_call(javascript(ARGUMENTS)), OUTPUT]
    said = RESPONSE.said("Sunny.", id_="msg_second")
    third = [*second, reference(said["id"]), {"role": "user", "content": "And tomorrow?"}]
    turns = [
        Turn(ASKED, [thought, function_call(python(ARGUMENTS), id=ITEM_ID)]),
        Turn(second, [said]),
        Turn(third, [RESPONSE.said("Rain.", id_="msg_third")]),
    ]
    positions = linked(RESPONSE, turns, is_stream=is_stream)
    assert [each.follows for each in positions.values()] == [None, "r1", "r2"]


def test_tool_calls_that_smolagents_writes_as_text_are_linked() -> None:
    """smolagents 1.26 never sends a call or a result of a tool (``ActionStep.to_messages``).

    It writes the call as a text of the assistant, after the text of the response, and the result as a message of the
    user.
    """
    calls = [{"id": ID, "type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}]
    assert smolagents(response_of(CHAT, "", python(ARGUMENTS)), f"Calling tools:\n{calls}") == [None, "r1", "r2"]
    assert smolagents(response_of(CHAT, "", python(ARGUMENTS)), f"Calling tools:\n{calls}".replace(ID, "x"))[1] is None


def test_code_that_smolagents_has_run_is_linked() -> None:
    """Its agents that write code stop the model at the end of the code, and append it themselves."""
    said = "Thought: I look.\n<code>\nprint(weather())\n"
    calls = [{"id": "call_1", "type": "function", "function": {"name": "python_interpreter", "arguments": "print(1)"}}]
    assert smolagents({"content": said}, f"{said}</code>\nCalling tools:\n{calls}") == [None, "r1", "r2"]
    assert smolagents({"content": said}, f"Other.\nCalling tools:\n{calls}")[1] is None


def smolagents(response: Any, sent_again: str) -> list[str | None]:
    """Return which requests continue each other, if a client sends a response again as text, and a result after it."""

    def texts(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    second = [*ASKED, texts("assistant", sent_again), texts("user", f"Observation:\n{RESULT}")]
    third = [*second, texts("assistant", "Sunny."), texts("user", "New task:\nAnd tomorrow?")]
    turns = [Turn(ASKED, response), Turn(second, answer_of(CHAT)), Turn(third, answer_of(CHAT))]
    return [each.follows for each in linked(CHAT, turns, is_stream=False).values()]


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "said",
    [
        "<think>\nThe user asks.\n</think>\n\nSunny.",
        "The user asks.\n</think>\n\nSunny.",  # the first tag is part of the prompt
        "<think></think>Sunny.",
        "<thinking>Hm.</thinking> Sunny.",
        "<thought>Hm.</thought>Sunny.",
        "<seed:think>Hm.</seed:think>Sunny.",
    ],
)
def test_a_response_without_its_reasoning_in_tags_is_linked(said: str, is_stream: bool) -> None:
    """Many chat programs remove it before they send a response of a local model again."""
    for sent_again in (said, "Sunny."):
        second = [*ASKED, {"role": "assistant", "content": sent_again}, {"role": "user", "content": "And tomorrow?"}]
        turns = [Turn(ASKED, {"content": said}), Turn(second, answer_of(CHAT))]
        assert linked(CHAT, turns, is_stream=is_stream)["r2"].follows == "r1"
