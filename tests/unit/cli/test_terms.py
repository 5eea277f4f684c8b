"""Test the filters of a command line, and the hints why none of the requests match them."""

import pytest

from relaybook.cli.failure import BadArgument
from relaybook.cli.terms import hint, read_terms
from relaybook.log.query.filters import MAX_LIMIT


def test_arguments_are_names_and_values() -> None:
    assert read_terms(
        ["namespace=a=b", "from=-15m", "not.status=error", "property.user_id=7", "property.a b:c=d=e"]
    ) == [
        ("namespace", "a=b"),
        ("from", "-15m"),
        ("not.status", "error"),
        ("property.user_id", "7"),
        ("property.a b:c", "d=e"),
    ]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (["refund"], "refund"),
        (["where is my refund"], '"where is my refund"'),
        (["duration:>2s", "-model:gpt-4o*"], "duration:>2s -model:gpt-4o*"),
        (["namespace:my channel"], 'namespace:"my channel"'),
        (["model:o1 refund status:error"], "model:o1 refund status:error"),
        (["refund -model:o1"], "refund -model:o1"),
        (["see http://x"], '"see http://x"'),
        (["at 10:30 sharp"], '"at 10:30 sharp"'),
        (['-"5"'], '-"5"'),
        (['"quoted already" -late'], '"quoted already" -late'),
        (["a==b"], None),
        (["property.my app:a b"], 'property."my app":"a b"'),
        (["-property.my app:x"], '-property."my app":"x"'),
        (['property."a=b":x', "-property.-a:y"], 'property."a=b":x -property.-a:y'),
        (['property."my app":x y'], 'property."my app":x y'),
        (["property.my model:x"], None),
        (["property.my"], None),
        ([r"namespace:a\\b c"], r'namespace:"a\\\\b c"'),
    ],
)
def test_other_arguments_are_terms_of_the_query_language(arguments: list[str], query: str | None) -> None:
    if query is None:
        with pytest.raises(BadArgument):
            read_terms(arguments)
    else:
        assert read_terms(["status=error", *arguments]) == [("status", "error"), ("q", query)]


@pytest.mark.parametrize(
    "bad", ["staging:x", "namspace=x", "status=99999", "from=yesterday", "--", "duration:2s", "-12"]
)
def test_filters_that_the_api_rejects_are_rejected(bad: str) -> None:
    with pytest.raises(BadArgument):
        read_terms([bad])


@pytest.mark.parametrize(
    ("bad", "output"),
    [
        ("a OR b", "'OR': operator OR is not supported."),
        ("12:30", """'12:30': '12' is not a known name. To search for this text, write '"12:30"'."""),
        ("duration>2s", """'duration>2s': the colon after the name is missing. Write 'duration:>2s'. To"""),
        (
            "namespace:*x",
            "'namespace:*x': a * is only allowed at the end of a value. For a value that contains a *, "
            """write 'namespace:"*x"'.""",
        ),
        (
            "user-id:7",
            """To search for this text, write '"user-id:7"'. To filter by a property, write property.user-id.""",
        ),
        ("limit=5", "'limit=5' is not a filter. Set the number of requests with -n, such as -n 5."),
    ],
)
def test_corrections_are_quoted_for_a_shell(bad: str, output: str) -> None:
    with pytest.raises(BadArgument) as refused:
        read_terms([bad])
    assert output in str(refused.value)


def test_text_of_the_user_that_looks_like_a_message_is_not_changed() -> None:
    with pytest.raises(BadArgument) as refused:
        read_terms(['status:"x at character 1: write"'])
    assert str(refused.value).startswith(
        """'status:"x at character 1: write"': status is 'x at character 1: write': """
    )


class Log:
    """A fake log with the given namespaces and property names, and with at most one known id."""

    def __init__(
        self,
        namespaces: list[str] | None = None,
        properties: list[str] | None = None,
        body_state: str | None = None,
        known_id: str | None = None,
        lag_seconds: float = 0.0,
    ) -> None:
        self._known_id = known_id
        self._lag_seconds = lag_seconds
        self._values = {"namespace": namespaces or [], "property": properties or []}
        self._latest = [{"body_state": body_state}] if body_state else []

    def latest(self, terms: list[tuple[str, str]], limit: int) -> tuple[list[dict[str, str]], bool]:
        return self._latest, True

    def is_indexed(self) -> bool:
        return True

    def lag_seconds(self) -> float:
        return self._lag_seconds

    def find(self, text: str) -> dict[str, str] | None:
        return {"id": text} if text == self._known_id else None

    def values(self, field: str) -> list[str]:
        return self._values[field]


def hint_for(log: Log, *filters: str) -> str:
    return hint(log, read_terms(filters))  # type: ignore[arg-type]  # ``hint`` calls only methods that ``Log`` has


@pytest.mark.parametrize(
    ("term", "hint"),
    [
        ("model=gpt*", "write model:gpt*."),
        ("not.model=gpt*", "write -model:gpt*."),
        ("model:gpt*", ""),
        ("fternoo", ""),
    ],
)
def test_a_star_after_an_equals_sign_is_explained(term: str, hint: str) -> None:
    output = hint_for(Log(["x"], ["user"]), term)
    assert hint in output
    assert ("A * after =" in output) == bool(hint)


@pytest.mark.parametrize(
    ("term", "is_explained"), [("fternoo", True), ("aftern*", False), ("model:fternoo", False), ("-fternoo", False)]
)
def test_matching_of_whole_words_is_explained(term: str, is_explained: bool) -> None:
    output = hint_for(Log(), term)
    assert (
        output
        == " Only whole words match. To find part of a word in the last hour, write 'contains:\"fternoo\"' from=-1h"
    ) == is_explained


def test_a_search_for_an_id_or_a_namespace_is_explained() -> None:
    assert hint_for(Log(known_id="chatcmpl-9"), "chatcmpl-9") == (
        " The search text is the id of a request. To print the request, run relaybook show chatcmpl-9"
    )
    assert hint_for(Log(["ios", "web"]), "ios") == " The search text is a namespace. Write namespace=ios"
    assert " Write 'namespace=my app'" in hint_for(Log(["my app"]), '"my app"')
    assert "Only whole words match" in hint_for(Log(["ios"], known_id="chatcmpl-9"), "chatcmpl-8")


def test_a_log_that_is_behind_is_reported_first() -> None:
    lag = " The log is 16 s behind, so it lacks the newest requests."
    assert hint_for(Log(lag_seconds=16.4), "model:o1") == lag
    assert hint_for(Log(lag_seconds=16.4), "fternoo").startswith(f"{lag} Only whole words match.")
    assert hint_for(Log(lag_seconds=1.0), "model:o1") == ""


@pytest.mark.parametrize(("term", "is_explained"), [("Failed", True), ("error", True), ("tea", False)])
def test_the_filter_for_failed_requests_is_suggested(term: str, is_explained: bool) -> None:
    assert (hint_for(Log(), term) == " To find failed requests, write failed=true") == is_explained


def test_a_from_in_the_future_is_explained() -> None:
    assert " The start time (from) is in the future. The time is now 2" in hint_for(Log(), "from=9000-01-01")
    assert "in the future" not in hint_for(Log(), "from=2020-01-01", "namespace=ios")


def test_a_text_search_in_a_log_without_bodies_is_explained() -> None:
    assert "logged without bodies" in hint_for(Log(body_state="no_bodies"), "fternoo")
    assert "Only whole words match" in hint_for(Log(body_state="stored"), "fternoo")
    assert hint_for(Log(body_state="no_bodies"), "model:fternoo") == ""


@pytest.mark.parametrize("term", ["property.usr=42", "property.usr:42"])
def test_an_unknown_property_is_reported(term: str) -> None:
    assert hint_for(Log(properties=["user", "channel"]), term) == " No request has a property usr. Did you mean user?"
    assert hint_for(Log(properties=["b", "a"]), term) == " No request has a property usr. Known properties: b, a."
    assert hint_for(Log(), term) == " No request has a property usr."


def test_direction_marks_in_names_are_escaped() -> None:
    names = ["us\u202eer", "a\x1b[2J"]
    assert hint_for(Log(properties=names), "property.user=42").endswith(r"Did you mean us\u202eer?")
    assert hint_for(Log(properties=names), "property.x=42").endswith(r"Known properties: us\u202eer, a\x1b[2J.")
    assert hint_for(Log(names), "namespace=user").endswith(r"Did you mean us\u202eer?")


def test_an_unknown_namespace_is_reported() -> None:
    log = Log(["production", "staging"])
    assert hint_for(log, "namespace=prodction") == " No request has the namespace prodction. Did you mean production?"
    assert hint_for(log, "namespace=ios", "status=error") == " No request has the namespace ios."


@pytest.mark.parametrize(
    "term",
    ["namespace=staging", "namespace=ios namespace=staging", "-namespace:ios", "namespace:s*", "property.user=7"],
)
def test_there_is_no_hint_for_existing_names(term: str) -> None:
    assert hint_for(Log(["production", "staging"], ["user"]), *term.split()) == ""


def test_there_is_no_hint_if_the_list_of_values_is_incomplete() -> None:
    assert hint_for(Log([f"user-{n}" for n in range(MAX_LIMIT)]), "namespace=ios") == ""
