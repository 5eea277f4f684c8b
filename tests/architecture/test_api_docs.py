"""The page about the API matches the API."""

from tests.support.api_page import PAGE, api_page


def test_the_api_page_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == api_page(), "run: python -m tests.support.api_page"
