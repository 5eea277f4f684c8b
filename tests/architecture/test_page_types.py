"""The page's types match those of the API."""

from tests.support.types_page import PAGE, types_page


def test_the_page_types_are_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == types_page(), "run: make docs"
