"""What somebody is told whose filter found nothing."""

import pytest

from relaybook.commands.filters import read_terms
from relaybook.commands.hints import hint
from relaybook.filters import MAX_LIMIT


class Log:
    """A log with some namespaces and names of properties, at most one id, and nothing else in it."""

    def __init__(
        self,
        namespaces: list[str] | None = None,
        properties: list[str] | None = None,
        body_state: str | None = None,
        known_id: str | None = None,
    ) -> None:
        self._known_id = known_id
        self._values = {"namespace": namespaces or [], "property": properties or []}
        self._latest = [{"body_state": body_state}] if body_state else []

    def latest(self, terms: list[tuple[str, str]], limit: int) -> list[dict[str, str]]:
        return self._latest

    def find(self, text: str) -> dict[str, str] | None:
        return {"id": text} if text == self._known_id else None

    def values(self, field: str) -> list[str]:
        return self._values[field]


def told(log: Log, *filters: str) -> str:
    return hint(log, read_terms(filters))  # type: ignore[arg-type]  # it asks for nothing else


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("model=gpt*", "write model:gpt* for"),
        ("not.model=gpt*", "write -model:gpt* for"),
        ("model:gpt*", ""),
        ("fternoo", ""),
    ],
)
def test_a_star_after_an_equals_sign_is_explained(asked: str, hint: str) -> None:
    said = told(Log(["x"], ["user"]), asked)
    assert hint in said
    assert ("After = a *" in said) == bool(hint)


@pytest.mark.parametrize(
    ("asked", "is_explained"), [("fternoo", True), ("aftern*", False), ("model:fternoo", False), ("-fternoo", False)]
)
def test_that_words_are_found_whole_is_explained(asked: str, is_explained: bool) -> None:
    said = told(Log(), asked)
    assert (
        said == " Words are found whole: for a piece of text write 'contains:\"fternoo\"' from=-1h."
    ) == is_explained


def test_an_id_or_a_namespace_looked_for_as_a_word_is_explained() -> None:
    assert told(Log(known_id="chatcmpl-9"), "chatcmpl-9") == (
        " It is the id of a request: relaybook show chatcmpl-9 tells it."
    )
    assert told(Log(["ios", "web"]), "ios") == " It is a namespace: write namespace=ios for its requests."
    assert " write 'namespace=my app' for" in told(Log(["my app"]), '"my app"')
    assert "Words are found whole" in told(Log(["ios"], known_id="chatcmpl-9"), "chatcmpl-8")


@pytest.mark.parametrize("side", ["request", "response"])
def test_the_path_of_a_body_is_not_asked_for_as_an_id(side: str) -> None:
    assert "Words are found whole" in told(Log(known_id=f"chatcmpl-9/{side}"), f"chatcmpl-9/{side}")


def test_a_moment_later_than_now_is_explained() -> None:
    assert " from is later than now, which is 2" in told(Log(), "from=9000-01-01")
    assert "later than now" not in told(Log(), "from=2020-01-01", "namespace=ios")


def test_where_no_bodies_are_kept_it_is_told_that_there_are_no_words() -> None:
    assert "logged without bodies" in told(Log(body_state="no_bodies"), "fternoo")
    assert "Words are found whole" in told(Log(body_state="stored"), "fternoo")
    assert told(Log(body_state="no_bodies"), "model:fternoo") == ""


@pytest.mark.parametrize("asked", ["property.usr=42", "property.usr:42"])
def test_a_property_that_no_request_has_is_told(asked: str) -> None:
    assert told(Log(properties=["user", "channel"]), asked) == " No request has a property usr. Did you mean user?"
    assert told(Log(properties=["b", "a"]), asked) == " No request has a property usr. There are b, a."
    assert told(Log(), asked) == " No request has a property usr."


def test_names_cannot_change_how_the_rest_is_shown() -> None:
    names = ["us\u202eer", "a\x1b[2J"]
    assert told(Log(properties=names), "property.user=42").endswith(r"Did you mean us\u202eer?")
    assert told(Log(properties=names), "property.x=42").endswith(r"There are us\u202eer, a\x1b[2J.")
    assert told(Log(names), "namespace=user").endswith(r"Did you mean us\u202eer?")


def test_a_namespace_under_which_nothing_was_logged_is_told() -> None:
    log = Log(["production", "staging"])
    assert (
        told(log, "namespace=prodction")
        == " Nothing was logged under the namespace prodction. Did you mean production?"
    )
    assert told(log, "namespace=ios", "status=error") == " Nothing was logged under the namespace ios."


@pytest.mark.parametrize(
    "asked",
    ["namespace=staging", "namespace=ios namespace=staging", "-namespace:ios", "namespace:s*", "property.user=7"],
)
def test_nothing_is_said_of_what_there_is(asked: str) -> None:
    assert told(Log(["production", "staging"], ["user"]), *asked.split()) == ""


def test_nothing_is_said_where_not_all_values_are_known() -> None:
    assert told(Log([f"user-{n}" for n in range(MAX_LIMIT)]), "namespace=ios") == ""
