"""Test that the documentation lists every code of errors, notes, advice and unknown costs, and every error status."""

import re
from pathlib import Path
from typing import get_args

import pytest

from relaybook.errors import RelayError
from relaybook.log.record import AdviceCode, CostReason, NoteCode
from relaybook.log.row import UNUSABLE_RESPONSES
from relaybook.relay.response_lines import NOT_LOGGED
from relaybook.tags import WarningCode

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "errors.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
del ROWS["code"]


def test_the_page_has_exactly_the_codes_of_relay_and_log() -> None:
    codes = [error.code for error in RelayError] + [*UNUSABLE_RESPONSES, *get_args(WarningCode), NOT_LOGGED]
    assert sorted(ROWS) == sorted(codes)


def test_every_error_has_its_status() -> None:
    documented = {error.code: ROWS[error.code].partition(",")[0].strip() for error in RelayError}
    sent = {error.code: str(error.status) for error in RelayError}
    assert documented == sent | {"upstream_stream_interrupted": "not sent"}


def test_every_unusable_response_has_its_result() -> None:
    assert {code: ROWS[code].strip("` ") for code in UNUSABLE_RESPONSES} == UNUSABLE_RESPONSES


@pytest.mark.parametrize(
    ("section", "codes"),
    [("Notes", get_args(NoteCode)), ("Advice", get_args(AdviceCode)), ("Unknown cost", get_args(CostReason))],
)
def test_every_code_of_notes_advice_and_unknown_costs_is_documented(section: str, codes: tuple[str, ...]) -> None:
    page = (DOCS / "explanation" / "reading-bodies.md").read_text("utf-8")
    table = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(codes)
