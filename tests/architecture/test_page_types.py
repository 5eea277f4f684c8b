"""Test that the page's types and vocabulary match the API."""

from tests.support import clients_page, vocabulary_page
from tests.support.types_page import PAGE, types_page


def test_the_page_types_are_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == types_page(), "run: make docs"


def test_the_page_vocabulary_is_up_to_date() -> None:
    assert vocabulary_page.PAGE.read_text("utf-8") == vocabulary_page.vocabulary_page(), "run: make docs"


def test_the_clients_of_the_page_and_of_the_documentation_are_up_to_date() -> None:
    assert clients_page.SCRIPT.read_text("utf-8") == clients_page.clients_script(), "run: make docs"
    assert clients_page.PAGE.read_text("utf-8") == clients_page.clients_page(), "run: make docs"
