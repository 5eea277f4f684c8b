"""A cookie stands for the token without containing it."""

import pytest

from relaybook.api import credentials

NOW = 1_800_000_000


def test_only_the_token_is_the_token() -> None:
    assert credentials.is_token("geheim-ü".encode(), "geheim-ü")
    for wrong in (b"", b"geheim", b"geheim-", b"GEHEIM-\xc3\xbc"):
        assert not credentials.is_token(wrong, "geheim-ü")


def test_a_cookie_is_good_for_thirty_days() -> None:
    value = credentials.make_session("secret", NOW)
    assert credentials.is_session(value, "secret", NOW)
    assert credentials.is_session(value, "secret", NOW + 30 * 86400 - 1)
    assert not credentials.is_session(value, "secret", NOW + 30 * 86400)


def test_a_cookie_does_not_contain_the_token_and_dies_with_it() -> None:
    value = credentials.make_session("secret", NOW)
    assert "secret" not in value
    assert not credentials.is_session(value, "another", NOW)


@pytest.mark.parametrize("change", ["later", "cut", "empty", "unicode", "signed"])
def test_a_cookie_that_was_changed_is_worthless(change: str) -> None:
    expiry, _, proof = credentials.make_session("secret", NOW).partition(".")
    changed = {
        "later": f"{int(expiry) + 1}.{proof}",
        "cut": f"{expiry}.{proof[:-1]}",
        "empty": "",
        "unicode": f"²{expiry}.{proof}",
        "signed": f"-{expiry}.{proof}",
    }[change]
    assert not credentials.is_session(changed, "secret", NOW)


def test_all_cookies_of_our_name_are_found() -> None:
    headers = ["a=1; relaybook_session=x; relaybook_session2=n", "relaybook_session=y"]
    assert credentials.cookie_values(headers) == ["x", "y"]


def test_cookies_are_for_our_page_alone() -> None:
    assert credentials.set_cookie("v", 5, "", False) == (
        "relaybook_session=v; Path=/; Max-Age=5; HttpOnly; SameSite=Strict"
    )
    outside = credentials.set_cookie("v", 5, "/logs", True)
    assert outside.endswith("; Path=/logs; Max-Age=5; HttpOnly; SameSite=Strict; Secure")
