"""Test which models exist in the simulated upstream."""

import json

import pytest
from genai_prices import Usage, calc_price

from relaybook_demo.simulator.apis.models import (
    ANTHROPIC,
    GEMINI,
    GEMINI_EMBEDDING,
    LISTED,
    OLLAMA,
    is_gemini,
    is_known,
    is_ollama,
    list_models,
    show_model,
)


def test_every_listed_model_exists() -> None:
    assert [model["id"] for model in json.loads(list_models().body)["data"]] == list(LISTED)
    assert all(is_known(name) for name in LISTED)


def test_every_model_exists_in_its_api() -> None:
    assert all(is_gemini(name) for name in (*GEMINI, *GEMINI_EMBEDDING))
    assert all(is_ollama(name) for name in OLLAMA)
    assert is_ollama("llama3.2")
    assert is_ollama("llama3.2:1b")
    assert is_ollama("sim-anything")
    assert not is_ollama("llama4")
    assert not is_gemini("gpt-4o")


@pytest.mark.parametrize(
    ("provider", "model"),
    [*(("google", name) for name in (*GEMINI, *GEMINI_EMBEDDING)), *(("anthropic", name) for name in ANTHROPIC)],
)
def test_models_of_google_and_anthropic_have_prices(provider: str, model: str) -> None:
    usage = Usage(input_tokens=1000, output_tokens=1000)
    assert calc_price(usage, model, provider_id=provider).total_price > 0


@pytest.mark.parametrize(("segment", "status"), [("gpt-9", 200), ("sim-a%2Fb", 200), ("llama-4", 404), ("", 404)])
def test_models_are_recognized_by_prefix(segment: str, status: int) -> None:
    assert show_model(segment).status == status
