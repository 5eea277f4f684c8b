"""Test the fingerprints of secrets."""

import pytest

from relaybook.relay.fingerprints import Fingerprints, keys_in


def test_a_fingerprint_distinguishes_keys_and_depends_on_the_installation() -> None:
    one, other = Fingerprints(b"a"), Fingerprints(b"b")
    assert one.of(b"key-1") == one.of(b"key-1")
    assert one.of(b"key-1") != one.of(b"key-2")
    assert one.of(b"key-1") != other.of(b"key-1")
    assert len(one.of(b"key-1")) == 12


def test_secret_query_parameters_are_replaced_and_others_are_kept() -> None:
    replaced = Fingerprints(b"a").target(b"/v1/x?key=abc&model=gpt&api_key=d%20e&monkey=1&token=&Sig=z")
    assert b"abc" not in replaced
    assert b"d%20e" not in replaced
    assert b"&model=gpt&" in replaced
    assert b"&monkey=1&" in replaced
    assert replaced.count(b"=key:") == 4


SECRET_NAMES = (
    *("apikey", "API-Key", "subscription-key", "access_key", "auth_token", "authToken", "X-Amz-Security-Token"),
    *(
        "X-Amz-Signature",
        "X-Amz-Credential",
        "client_secret",
        "secret",
        "signature",
        "sig",
        "password",
        "user.password",
    ),
)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_the_last_word_of_a_name_makes_a_parameter_secret(name: str) -> None:
    target = f"/v1/models?model=gpt&{name}=vvvvvvvvvv&x=1".encode()
    assert b"vvvvvvvvvv" not in Fingerprints(b"a").target(target)
    assert keys_in(target) == [b"vvvvvvvvvv"]


@pytest.mark.parametrize("name", ["api%5Fkey", "%6Bey", "X-Goog-%53ignature"])
def test_an_encoded_name_makes_a_parameter_secret(name: str) -> None:
    target = f"/v1/models?model=gpt&{name}=vvvvvvvvvv".encode()
    assert Fingerprints(b"a").target(target).startswith(f"/v1/models?model=gpt&{name}=key:".encode())
    assert keys_in(target) == [b"vvvvvvvvvv"]


def test_a_percent_encoded_key_is_also_found_in_its_decoded_form() -> None:
    """The upstream may repeat the decoded key in its response."""
    assert keys_in(b"/v1/models?key=vvvv%2Fvvvv%3D&x=1") == [b"vvvv%2Fvvvv%3D", b"vvvv/vvvv="]


def test_each_question_mark_starts_a_new_parameter_name() -> None:
    target = b"/v1/models?a?b-key=vvvvvvvvvv"
    assert Fingerprints(b"a").target(target).startswith(b"/v1/models?a?b-key=key:")
    assert keys_in(target) == [b"vvvvvvvvvv"]


def test_a_secret_in_the_value_of_another_parameter_is_replaced() -> None:
    target = b"/v1/models?version=1?key=vvvv?vvvvvv&x=2"
    masked = Fingerprints(b"a").target(target)
    assert masked.startswith(b"/v1/models?version=1?key=key:")
    assert masked.endswith(b"&x=2")
    assert b"vvvv" not in masked
    assert keys_in(target) == [b"vvvv?vvvvvv"]


@pytest.mark.parametrize("name", ["monkey", "keyword", "max_tokens", "design", "key_of", "model"])
def test_other_parameters_are_kept(name: str) -> None:
    target = f"/v1/models?{name}=vvvvvvvvvv".encode()
    assert Fingerprints(b"a").target(target) == target
    assert keys_in(target) == []


def test_only_the_scheme_of_an_authorization_is_kept() -> None:
    line = Fingerprints(b"a").line
    assert line(b"Authorization: Bearer sk-secret").startswith(b"Authorization: Bearer key:")
    cookies = (b"Cookie: session=abc; theme=dark", b"Set-Cookie: abc")
    for secret in (*cookies, b"x-api-key: abc v2", b"Authorization: abc def"):
        replaced = line(secret)
        assert b"abc" not in replaced
        assert len(replaced.partition(b": key:")[2]) == 12
