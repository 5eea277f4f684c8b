"""Test the error codes of the relay."""

import re

import pytest

from relaybook.errors import RelayError


@pytest.mark.parametrize("error", RelayError, ids=lambda error: error.code)
def test_a_code_is_its_name_in_lower_case_and_a_status_is_an_error(error: RelayError) -> None:
    assert error.code == error.name.lower()
    assert re.fullmatch(r"[a-z_]+", error.code)
    assert 400 <= error.status <= 599


def test_upstream_errors_have_status_502_or_504() -> None:
    assert {error.status for error in RelayError if error.code.startswith("upstream")} == {502, 504}
