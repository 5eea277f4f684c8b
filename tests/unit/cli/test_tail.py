"""``tail`` prints what its log gives it."""

import json
from pathlib import Path

import pytest
from tests.support.rows import row

from relaybook.cli import tail as module
from relaybook.cli.failure import BadArgument
from relaybook.cli.tail import hint, read_terms
from relaybook.log.query.filters import MAX_LIMIT
from relaybook.settings.configuration import Configuration, resolve


class OneRow:
    """A log of one request."""

    def latest(self, terms: list[tuple[str, str]], limit: int) -> list[dict[str, object]]:
        return [row(namespace=f"{terms} {limit}")]

    def follow(self, terms: list[tuple[str, str]], limit: int) -> list[dict[str, object]]:
        return [row(namespace="followed")]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: OneRow())
    return resolve({"data": "log"}, {}, tmp_path)


def test_a_line_for_each_request(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.tail(settings, ["kind=chat"], lines=3) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "[('kind', 'chat')] 3" in line


def test_ids_stand_before_the_lines_where_they_are_wanted(
    settings: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    module.tail(settings, [], lines=3)
    module.tail(settings, [], lines=3, with_ids=True)
    without, with_id = capsys.readouterr().out.splitlines()
    assert with_id == f"{row()['id']}  {without}"


def test_json_is_one_object_a_line(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.tail(settings, [], lines=3, follow=True, as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == row(namespace="followed")


def test_a_bad_filter_is_refused_before_anything_is_read(settings: Configuration) -> None:
    with pytest.raises(BadArgument):
        module.tail(settings, ["nonsense:x"], lines=3)


def test_where_nothing_is_found_that_is_said_with_a_hint(
    settings: Configuration, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OneRow, "latest", lambda *_: [])
    assert module.tail(settings, ["model=gpt*"], lines=3) == 0
    said = capsys.readouterr().err
    assert said.startswith("No request where model=gpt*. After = a * is")
    assert module.tail(settings, [], lines=3) == 0
    assert capsys.readouterr().err == "No request yet.\n"


def test_arguments_are_names_and_values() -> None:
    assert read_terms(["namespace=a=b", "from=-15m", "not.status=error", "property.user_id=7"]) == [
        ("namespace", "a=b"),
        ("from", "-15m"),
        ("not.status", "error"),
        ("property.user_id", "7"),
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
    ],
)
def test_everything_else_is_the_query_language(arguments: list[str], query: str | None) -> None:
    if query is None:
        with pytest.raises(BadArgument):
            read_terms(arguments)
    else:
        assert read_terms(["status=error", *arguments]) == [("status", "error"), ("q", query)]


@pytest.mark.parametrize(
    "bad", ["staging:x", "namspace=x", "status=99999", "from=yesterday", "--", "duration:2s", "-12"]
)
def test_what_the_api_would_refuse_is_refused_here(bad: str) -> None:
    with pytest.raises(BadArgument):
        read_terms([bad])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("12:30", """'12:30': '12' is no name here. To look for this text, write '"12:30"'."""),
        ("duration>2s", """'duration>2s': a name is followed by a colon: write duration:>2s."""),
        ("limit=5", "'limit=5' is no filter: how many are shown says -n, as in -n 5."),
    ],
)
def test_what_to_write_instead_can_be_typed_into_a_shell(bad: str, said: str) -> None:
    with pytest.raises(BadArgument) as refused:
        read_terms([bad])
    assert str(refused.value).startswith(said)


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
