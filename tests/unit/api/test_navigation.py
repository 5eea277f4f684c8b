"""Test that page navigations by browsers are distinguished from requests by programs."""

import pytest
from tests.support.asgi import scope_of

from relaybook.api.serve_page import is_navigation, is_page_path

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def is_opened(method: str, path: str, accept: str | None) -> bool:
    return is_navigation(scope_of(method, path, [] if accept is None else [("accept", accept)]))


@pytest.mark.parametrize("accept", [BROWSER, "TEXT/HTML", "application/xml, text/html;q=0.9"])
@pytest.mark.parametrize("path", ["/", "/requests/1", "/a.html", "/apis", "//api", "*", "x", ""])
def test_get_and_head_requests_for_html_are_navigations(accept: str, path: str) -> None:
    assert is_opened("GET", path, accept)
    assert is_opened("HEAD", path, accept)


@pytest.mark.parametrize("accept", [None, "", "*/*", "application/json", "text/*", "text/htmlx", "x/text/html"])
def test_requests_that_do_not_accept_html_are_not_navigations(accept: str | None) -> None:
    assert not is_opened("GET", "/requests", accept)


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS", "get"])
def test_other_methods_are_not_navigations(method: str) -> None:
    assert not is_opened(method, "/requests", BROWSER)


@pytest.mark.parametrize(
    "path", ["/api", "/api/x", "/v1/models", "/metrics", "/openapi.json", "/healthz/x", "/readyz", "/assets/x.js"]
)
def test_paths_of_programs_are_never_navigations(path: str) -> None:
    assert not is_opened("GET", path, BROWSER)


@pytest.mark.parametrize(
    ("path", "known"),
    [("/overview", True), ("/a.b/c", True), ("/overview/", True), ("/x.js", False), ("/a/favicon.ico", False)],
)
def test_paths_that_look_like_files_are_not_page_paths(path: str, known: bool) -> None:
    assert is_page_path(path) is known
