"""Test that docs/reference/errors.md lists every error and warning code, and the status of every error."""

import re
from pathlib import Path
from typing import get_args

from relaybook.errors import RelayError
from relaybook.relay.response_lines import NOT_LOGGED
from relaybook.tags import WarningCode

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "errors.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
del ROWS["code"]


def test_the_page_has_exactly_the_codes_of_the_relay() -> None:
    codes = [error.code for error in RelayError] + [*get_args(WarningCode), NOT_LOGGED]
    assert sorted(ROWS) == sorted(codes)


def test_every_error_has_its_status() -> None:
    documented = {error.code: ROWS[error.code].partition(",")[0].strip() for error in RelayError}
    sent = {error.code: str(error.status) for error in RelayError}
    assert documented == sent | {"upstream_stream_interrupted": "not sent"}
