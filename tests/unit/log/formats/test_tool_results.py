"""Test that results of tools are connected with their calls in every API, and which results look like errors."""

from typing import Any, Final

import pytest
from tests.support.bodies import request_of

from relaybook.apis import Kind
from relaybook.log.formats.conversation import Message, Output, Part
from relaybook.log.formats.tool_results import add_calls, link_results, looks_failed

_ARGUMENTS: Final = '{"path":"a.py"}'
_FUNCTION: Final = {"name": "read_file", "arguments": _ARGUMENTS}
#: Two calls of the same tool and their results, as each API sends them again.
BODIES: Final[dict[Kind, dict[str, Any]]] = {
    "chat": {
        "messages": [
            {"role": "user", "content": "Read."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": _FUNCTION},
                    {"id": "c2", "type": "function", "function": _FUNCTION},
                ],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "second"},
            {"role": "tool", "tool_call_id": "c1", "content": "first"},
        ]
    },
    "response": {
        "input": [
            {"role": "user", "content": "Read."},
            {"type": "function_call", "call_id": "c1", **_FUNCTION},
            {"type": "function_call", "call_id": "c2", **_FUNCTION},
            {"type": "function_call_output", "call_id": "c1", "output": "first"},
            {"type": "function_call_output", "call_id": "c2", "output": "second"},
        ]
    },
    "message": {
        "messages": [
            {"role": "user", "content": "Read."},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I will."},
                    {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.py"}},
                    {"type": "tool_use", "id": "c2", "name": "read_file", "input": {"path": "a.py"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "first"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "second"}]},
                ],
            },
        ]
    },
    "generate": {
        "contents": [
            {"role": "user", "parts": [{"text": "Read."}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "read_file", "args": {"path": "a.py"}}},
                    {"functionCall": {"name": "read_file", "args": {"path": "a.py"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "read_file", "response": {"output": "first"}}},
                    {"functionResponse": {"name": "read_file", "response": {"output": "second"}}},
                ],
            },
        ]
    },
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_result_has_the_name_and_the_place_of_its_call(kind: Kind) -> None:
    request = request_of(BODIES[kind], kind)
    assert link_results(request.messages) == []
    calls = [
        (at, place)
        for at, message in enumerate(request.messages)
        for place, part in enumerate(message.parts)
        if part.kind == "tool_call"
    ]
    results = [part for message in request.messages for part in message.parts if part.kind == "tool_result"]
    assert [part.name for part in results] == ["read_file", "read_file"]
    named = {part.call: part.text for part in results}
    assert [named[call] for call in calls] in (["first", "second"], ['{"output":"first"}', '{"output":"second"}'])


def test_a_call_that_is_not_in_the_body_is_taken_from_the_response_before() -> None:
    result = Part("tool_result", "8", id="c1")
    assert link_results([Message("tool", [result, Part("image")])]) == [result]
    add_calls([result], [Part("text", id="c1"), Part("tool_call", name="add", id="c1", arguments="{}")])
    assert (result.name, result.arguments, result.call) == ("add", "{}", None)


def test_results_in_a_response_are_connected_too() -> None:
    parts = [
        Part("tool_call", name="code_execution", arguments="1/0"),
        Part("tool_result", type="codeExecutionResult", other={"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}}),
    ]
    assert link_results([Output(0, parts)]) == []
    assert (parts[1].name, parts[1].call, parts[1].failed) == ("code_execution", (0, 0), True)


@pytest.mark.parametrize(
    "text",
    [
        '{"error": "no such file"}',
        '{"error": {"code": 404, "message": "Not found"}}',
        '{"isError": true, "content": []}',
        '{"success": false}',
        "ValueError: invalid literal",
        "requests.exceptions.HTTPError: 404",
        '{"output": "", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}',
        '[{"stdout": "", "stderr": "no", "outcome": {"type": "exit", "exit_code": 1}}]',
        "Error: ENOENT: no such file or directory",
        "Error executing tool: timeout",
        "<tool_use_error>String to replace not found</tool_use_error>",
        'Traceback (most recent call last):\n  File "a.py"',
        "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno",
        "Chunk ID: 5\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:",
        "Command: ls x\nDirectory: (root)\nError: (none)\nExit Code: 2",
        "<returncode>1</returncode>\n<output>no</output>",
        "one\n" * 9000 + "[Command finished with exit code 1]",
        "Exit code 137",
    ],
)
def test_a_result_looks_like_an_error(text: str) -> None:
    assert looks_failed(Part("tool_result", text), {})


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "21 °C",
        '{"error": null, "output": "ok"}',
        '{"error": "", "exit_code": 0}',
        '{"errors": 3, "rows": [{"error": "in the data"}]}',
        "Exit code: 0\nOutput:\nError: is only in the output",
        "Errors are documented in docs/errors.md: read it",
        "code: 200\nlength: 12",
        "1 def main():\n2   try:\n3     run()\n4   except:\n5     # exit code: 1\n6     raise\n7 a\n8 b\n9 c\n10 d",
        '{"error": "cut',
        "[1, 2]",
        '[{"error": "of a row"}]',
    ],
)
def test_other_results_do_not(text: str | None) -> None:
    assert not looks_failed(Part("tool_result", text), {})


def test_the_api_can_say_that_a_result_is_an_error() -> None:
    assert looks_failed(Part("tool_result", "no"), {"is_error": True})
    assert looks_failed(Part("tool_result", "no"), {"status": "incomplete"})
    assert looks_failed(Part("tool_result", "no", other={"is_error": True}), {})
    assert not looks_failed(Part("tool_result", "no"), {"is_error": False})
