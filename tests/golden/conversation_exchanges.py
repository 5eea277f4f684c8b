"""Conversations of the golden file: three turns in each API with messages, and requests that repeat or branch."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.golden import chat_messages, message_exchanges, response_exchanges
from tests.golden.exchange import ANTHROPIC, STREAM_HEAD, GoldenExchange, encode

THIRD_QUESTION = "And tomorrow?"


def exchanges() -> Iterator[GoldenExchange]:
    for is_stream in (False, True):
        yield from _chat_texts(is_stream)
        yield from _chat_tools(is_stream)
        yield from _response_items(is_stream)
        yield from _response_ids(is_stream)
        yield from _message_blocks(is_stream)
    yield from _branches()
    yield from _sessions()
    yield from _agents()


def _turns(
    conversation: str,
    bodies: Sequence[tuple[dict[str, Any], Any]],
    api: Any,
    is_stream: bool,
    heads: Sequence[str] = (),
) -> Iterator[GoldenExchange]:
    """Yield one exchange for each request and what the model answers: a message, output items or blocks.

    ``heads`` are the heads of the requests, if they matter.
    """
    name = f"conversation/{conversation}/{'stream' if is_stream else 'whole'}"
    for number, (request, answer) in enumerate(bodies, 1):
        own = {} if api is not chat_messages else {"id": f"chatcmpl-{number}"}
        more = own or {"id": f"{answer[-1].get('id', 'x')}_{number}"}
        if is_stream:
            response = api.stream_of(answer, **more)
        else:
            whole = chat_messages.whole_body if api is chat_messages else api.body
            response = (encode(whole(answer, **more)),)
        yield GoldenExchange(
            f"{name}/{number}",
            chat_messages.CHAT if api is chat_messages else api.PATH,
            encode(request | {"stream": is_stream}),
            response,
            upstream=ANTHROPIC if api is message_exchanges else "https://api.openai.com/v1",
            conversation=name,
            **({"response_head": STREAM_HEAD} if is_stream else {}),
            **({"request_head": heads[number - 1]} if heads else {}),
        )


def _chat_texts(is_stream: bool) -> Iterator[GoldenExchange]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    turns = []
    for question, answer in (("Weather?", "Sunny."), ("Warm?", " 21 °C.\n"), (THIRD_QUESTION, "Rain.")):
        messages = [*messages, {"role": "user", "content": question}]
        turns.append((chat_messages.REQUEST | {"messages": messages}, {"content": answer, "reasoning_content": "Hm."}))
        messages = [*messages, {"role": "assistant", "content": answer}]
    yield from _turns("chat_texts", turns, chat_messages, is_stream)


def _chat_tools(is_stream: bool) -> Iterator[GoldenExchange]:
    asked = [chat_messages.ASKED]
    calls = {"content": None, "tool_calls": [chat_messages.WEATHER, chat_messages.function("f", "{}", "call_2")]}
    results = [{"role": "tool", "tool_call_id": each, "content": "21 °C"} for each in ("call_1", "call_2")]
    second = [*asked, {"role": "assistant"} | calls, *results]
    third = [*second, {"role": "assistant", "content": "Sunny."}, {"role": "user", "content": THIRD_QUESTION}]
    bodies = [(chat_messages.REQUEST | {"messages": each}) for each in (asked, second, third)]
    answers = [calls, {"content": "Sunny."}, {"content": "Rain."}]
    yield from _turns("chat_tools", list(zip(bodies, answers, strict=True)), chat_messages, is_stream)


def _response_items(is_stream: bool) -> Iterator[GoldenExchange]:
    api = response_exchanges
    first = [{"role": "user", "content": "Weather in Zürich?"}]
    output = [api.thought("Look."), api.called(), api.called("f", '{"b": 1, "a": [2]}', "call_2")]
    told = [{"type": "function_call_output", "call_id": each, "output": "21 °C"} for each in ("call_1", "call_2")]
    second = [*first, *output, *told]
    third = [*second, api.said("Sunny."), {"role": "user", "content": THIRD_QUESTION}]
    bodies = [{"model": "gpt-5", "instructions": "Be brief.", "input": each} for each in (first, second, third)]
    answers = [output, [api.said("Sunny.")], [api.said("Rain.")]]
    yield from _turns("response_items", list(zip(bodies, answers, strict=True)), api, is_stream)


def _response_ids(is_stream: bool) -> Iterator[GoldenExchange]:
    api = response_exchanges
    bodies = [
        {"model": "gpt-5", "input": "Weather?"},
        {"model": "gpt-5", "input": "Warm?", "previous_response_id": "msg_1_1"},
        {"model": "gpt-5", "input": THIRD_QUESTION, "previous_response_id": "msg_1_2"},
    ]
    answers = [[api.said(text)] for text in ("Sunny.", "21 °C.", "Rain.")]
    yield from _turns("response_ids", list(zip(bodies, answers, strict=True)), api, is_stream)
    stored = [{"model": "gpt-5", "input": text, "conversation": "conv_1"} for text in ("Weather?", "Warm?", "Dry?")]
    yield from _turns("response_conversation", list(zip(stored, answers, strict=True)), api, is_stream)


def _message_blocks(is_stream: bool) -> Iterator[GoldenExchange]:
    api = message_exchanges
    first = api.REQUEST["messages"]
    blocks = [api.THINKING, api.text("I look."), api.called(city="Zürich", days=2), api.called("toolu_2")]
    results = {"role": "user", "content": [api.told("21 °C"), api.told([api.text("ok")], "toolu_2")]}
    second = [*first, {"role": "assistant", "content": blocks}, results]
    third = [*second, {"role": "assistant", "content": "Sunny."}, {"role": "user", "content": THIRD_QUESTION}]
    bodies = [api.REQUEST | {"system": "Be brief.", "messages": each} for each in (first, second, third)]
    answers = [blocks, [api.text("Sunny.")], [api.text("Rain.")]]
    yield from _turns("message_blocks", list(zip(bodies, answers, strict=True)), api, is_stream)


def _branches() -> Iterator[GoldenExchange]:
    """Yield a request, its repeat, two branches, and requests without the oldest messages."""

    def user(text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def assistant(text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": text}

    asked = [user("Name a tea.")]
    long = [*asked, assistant("Assam"), user("Another."), assistant("Sencha"), user("And another.")]
    messages = [
        asked,
        asked,
        long[:3],
        [*asked, assistant("Assam"), user("Why?")],
        long,
        [*long[2:], assistant("Oolong"), user("x")],
    ]
    answers = ["Assam", "Assam", "Sencha", "It is strong.", "Oolong", "y"]
    turns = [
        (chat_messages.REQUEST | {"messages": each}, {"content": text})
        for each, text in zip(messages, answers, strict=True)
    ]
    yield from _turns("branches", turns, chat_messages, False)


def _sessions() -> Iterator[GoldenExchange]:
    """Yield two turns of each of two Codex sessions that begin with the same prompt, in turn."""
    api = response_exchanges
    prompt = {"role": "user", "content": "Fix the test."}
    second = [prompt, api.said("Fixed."), {"role": "user", "content": "Thanks."}]
    sessions = ("0199a213-81c0-7800-8aa1-bbab2a035a53", "0199a214-1d7e-7c40-9f3e-52d1c8a7b9e0")
    turns = [
        ({"model": "gpt-5", "input": messages, "prompt_cache_key": session}, [api.said(text)])
        for messages, text in (([prompt], "Fixed."), (second, "Bye."))
        for session in sessions
    ]
    heads = [
        f"user-agent: codex_exec/0.171.0\r\nsession-id: {session}\r\nthread-id: {session}\r\n"
        f"x-client-request-id: {session}"
        for session in (*sessions, *sessions)
    ]
    yield from _turns("codex_sessions", turns, api, False, heads)


def _agents() -> Iterator[GoldenExchange]:
    """Yield a request of Claude Code and a request of its subagent."""
    api = message_exchanges
    session = "5e551011-0000-4000-8000-000000000000"
    user_id = f'{{"device_id":"d","account_uuid":"a","session_id":"{session}"}}'
    turns = [
        (
            api.REQUEST | {"messages": [{"role": "user", "content": text}], "metadata": {"user_id": user_id}},
            [api.text("Done.")],
        )
        for text in ("Fix the test.", "Find the test.")
    ]
    head = f"User-Agent: claude-cli/2.1.197 (external, sdk-cli)\r\nX-Claude-Code-Session-Id: {session}"
    agent = f"{head}\r\nX-Claude-Code-Agent-Id: a1b2\r\nX-Claude-Code-Parent-Agent-Id: main"
    yield from _turns("claude_code_agents", turns, api, False, [head, agent])
