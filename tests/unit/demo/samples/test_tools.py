"""Test that tools are declared in OpenAI's format, and that the simulated model turns results into sentences."""

import json

import pytest

from relaybook_demo.samples import tools
from relaybook_demo.simulator import texts


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("get_weather", '{"city": "Rome"}', "In Rome it is sunny at 24 °C"),
        ("get_weather", '{"city": "Atlantis"}', "In Atlantis it is cloudy"),
        ("get_refund", '{"order": "4411"}', "The refund for order 4411 is **sent**"),
    ],
)
def test_a_result_becomes_a_sentence(name: str, arguments: str, sentence: str) -> None:
    result = tools.run(name, arguments)
    assert result == tools.run(name, arguments)
    assert (texts.result_text(json.loads(result)) or "").startswith(sentence)


def test_a_tool_is_declared_under_its_name() -> None:
    assert {name: tool["function"]["name"] for name, tool in tools.TOOLS.items()} == {
        "get_weather": "get_weather",
        "get_refund": "get_refund",
    }
