"""Only our own names may be in Host, and only our own pages may change something."""

import pytest

from relaybook.api.hosts import host_name, is_host_allowed, is_origin_allowed
from relaybook.api.options import ApiOptions

LOCAL = ApiOptions(relay_base_url="", version="")
OUTSIDE = ApiOptions(relay_base_url="", version="", dashboard_url="https://Relaybook.corp.example/logs")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:4101", "[::1]:4101", "[::1]"])
def test_loopback_names_are_allowed_with_any_port(host: str) -> None:
    assert is_host_allowed(host, LOCAL)


ELSEWHERE = ("evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.nip.io", "127.1", "0.0.0.0")
MALFORMED = ("", "localhost:4101:1", "localhost@evil.example", "localhost/", "localhost ", "localhost:", "[::1", "::1")


@pytest.mark.parametrize("host", [*ELSEWHERE, *MALFORMED, "lócalhost"])
def test_other_names_and_malformed_ones_are_not(host: str) -> None:
    assert not is_host_allowed(host, LOCAL)


def test_the_outside_host_is_allowed_beside_them() -> None:
    assert is_host_allowed("relaybook.corp.example", OUTSIDE)
    assert is_host_allowed("RELAYBOOK.corp.example:443", OUTSIDE)
    assert is_host_allowed("localhost:4101", OUTSIDE)
    assert not is_host_allowed("corp.example", OUTSIDE)


def test_an_outside_address_may_be_an_ipv6_literal() -> None:
    options = ApiOptions(relay_base_url="", version="", dashboard_url="http://[FD00::1]:4101")
    assert is_host_allowed("[fd00::1]:4101", options)
    assert is_origin_allowed("http://[fd00::1]:4101", "same-origin", "127.0.0.1:4101", options)


def test_a_host_name_is_lower_case_and_has_no_port() -> None:
    assert (host_name("A.Example:80"), host_name("[FD00::1]:80"), host_name("a b")) == ("a.example", "[fd00::1]", None)


def test_programs_that_send_no_origin_may_change_things() -> None:
    assert is_origin_allowed(None, None, "localhost:4101", LOCAL)


def test_our_own_page_may_change_things() -> None:
    assert is_origin_allowed("http://localhost:4101", "same-origin", "localhost:4101", LOCAL)
    assert is_origin_allowed(None, "none", "localhost:4101", LOCAL)
    assert is_origin_allowed("http://localhost:4101", None, "LOCALHOST:4101", LOCAL)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://localhost:3000", "http://localhost"])
def test_pages_of_other_origins_may_not(origin: str) -> None:
    assert not is_origin_allowed(origin, None, "localhost:4101", LOCAL)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever"])
def test_a_browser_that_says_cross_site_is_believed(site: str) -> None:
    assert not is_origin_allowed(None, site, "localhost:4101", LOCAL)
    assert not is_origin_allowed("http://localhost:4101", site, "localhost:4101", LOCAL)


def test_behind_a_proxy_that_replaces_the_host_the_outside_origin_is_ours() -> None:
    assert is_origin_allowed("https://relaybook.corp.example", "same-origin", "127.0.0.1:4101", OUTSIDE)
    assert not is_origin_allowed("http://relaybook.corp.example", None, "127.0.0.1:4101", OUTSIDE)
