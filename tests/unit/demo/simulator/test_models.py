"""Test which models exist in the simulated upstream."""

import json

import pytest

from relaybook_demo.simulator.models import LISTED, is_known, list_models, show_model


def test_every_listed_model_exists() -> None:
    assert [model["id"] for model in json.loads(list_models().body)["data"]] == list(LISTED)
    assert all(is_known(name) for name in LISTED)


@pytest.mark.parametrize(("segment", "status"), [("gpt-9", 200), ("sim-a%2Fb", 200), ("llama-4", 404), ("", 404)])
def test_models_are_recognized_by_prefix(segment: str, status: int) -> None:
    assert show_model(segment).status == status
