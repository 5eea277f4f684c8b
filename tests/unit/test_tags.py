"""Test that a tag never makes a request fail, and is never dropped without a warning."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.tags import MAX_CHARACTERS, MAX_PROPERTIES, TagReader, Tags, clean, echo, property_name, with_metadata

READER = TagReader(["Service", "Relaybook"], "default", "full")


def read(*lines: tuple[str, bytes]) -> Tags:
    return READER.read([(name.encode(), value) for name, value in lines])


def codes(tags: Tags) -> list[str]:
    return [warning.code for warning in tags.warnings]


def test_without_tags_the_defaults_are_used() -> None:
    tags = read()
    assert (tags.namespace, tags.properties, tags.log, tags.warnings) == ("default", {}, "full", ())


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"ios", "ios"),
        (b"  Tenant/42 ", "Tenant/42"),
        (b"caf%C3%A9", "café"),
        ("café".encode(), "café"),
        (b"50%off", "50%off"),
        (b"%ff", "%ff"),
        (b"e\xcc\x81", "é"),
        (b"a@b.example", "a@b.example"),
    ],
)
def test_a_namespace_is_decoded_and_trimmed(sent: bytes, expected: str) -> None:
    tags = read(("Service-Namespace", sent))
    assert (tags.namespace, codes(tags)) == (expected, [])


def test_an_empty_namespace_is_the_default() -> None:
    assert read(("Service-Namespace", b" ")).namespace == "default"


def test_long_values_are_truncated_and_stay_distinct() -> None:
    one, two = read(("Service-Namespace", b"x" * 300)), read(("Service-Namespace", b"x" * 301))
    assert len(one.namespace) == MAX_CHARACTERS
    assert one.namespace != two.namespace
    assert one.namespace.startswith("x" * 239 + "~")
    assert codes(one) == ["namespace_cut"]
    assert codes(read(("Service-Property-A", b"x" * 300))) == ["value_cut"]


def test_control_characters_are_replaced_with_a_warning() -> None:
    tags = read(("Service-Namespace", b"a%00b%0d%0ac"))
    assert tags.namespace == "a\ufffdb\ufffd\ufffdc"
    assert codes(tags) == ["control_characters_replaced"]


def test_bytes_that_are_not_utf8_are_read_as_latin1_with_a_warning() -> None:
    tags = read(("Service-Namespace", b"caf\xe9"))
    assert (tags.namespace, codes(tags)) == ("café", ["not_utf8"])


def test_the_first_of_two_different_values_is_used_with_a_warning() -> None:
    tags = read(("Service-Namespace", b"a"), ("service-namespace", b"b"), ("Service-Property-X", b"1"))
    assert (tags.namespace, codes(tags)) == ("a", ["duplicate_tag"])
    assert codes(read(("Service-Namespace", b"a"), ("Service-Namespace", b"a"))) == []


def test_property_names_are_lower_case_with_dashes() -> None:
    tags = read(("Service-Property-User_Id", b"7"), ("Service-Property-Channel", b"iOS"))
    assert tags.properties == {"user-id": "7", "channel": "iOS"}


def test_the_sixty_fifth_property_warns() -> None:
    tags = read(*[(f"Service-Property-P{number}", b"x") for number in range(70)])
    assert len(tags.properties) == 64
    assert codes(tags) == ["too_many_properties"]


def test_a_misspelled_header_gets_a_warning_with_a_suggestion() -> None:
    (warning,) = read(("Service-Namspace", b"ios")).warnings
    assert warning.code == "unknown_header"
    assert "Service-Namspace" in warning.message
    assert "Did you mean Service-Namespace?" in warning.message


@pytest.mark.parametrize(("value", "log"), [(b"full", "full"), (b"no-bodies", "no-bodies"), (b"ful", "no-bodies")])
def test_an_unknown_log_value_is_treated_as_no_bodies(value: bytes, log: str) -> None:
    tags = read(("Service-Log", value))
    assert tags.log == log
    assert codes(tags) == ([] if value != b"ful" else ["unknown_log_value"])


def test_a_header_cannot_log_more_than_the_setting_allows() -> None:
    reader = TagReader(["Service"], "default", "no-bodies")
    assert reader.read([(b"Service-Log", b"full")]).log == "no-bodies"


@pytest.mark.parametrize(
    ("namespace", "sent", "log"),
    [
        (b"dev-1", None, "no-bodies"),
        (b"dev-1", b"full", "no-bodies"),
        (b"dev-ci", None, "full"),
        (b"dev-ci", b"no-bodies", "no-bodies"),
        (b"production", None, "full"),
    ],
)
def test_the_log_mode_can_depend_on_the_namespace(namespace: bytes, sent: bytes | None, log: str) -> None:
    reader = TagReader(["Service"], "default", "full", {"dev-*": "no-bodies", "dev-ci": "full"})
    headers = [(b"Service-Namespace", namespace), *([(b"Service-Log", sent)] if sent else [])]
    assert reader.read(headers).log == log


def test_the_log_mode_of_the_default_namespace_applies_to_requests_without_tags() -> None:
    assert TagReader(["Service"], "default", "full", {"default": "no-bodies"}).read([]).log == "no-bodies"


def test_the_response_uses_the_prefix_of_the_request() -> None:
    assert read(("Relaybook-Namespace", b"a")).prefix == "Relaybook"
    assert read().prefix == "Service"


@pytest.mark.parametrize(
    ("name", "is_tag"),
    [
        (b"service-namespace", True),
        (b"relaybook-log", True),
        (b"service-worker", False),
        (b"service-worker-navigation-preload", False),
        (b"service_namespace", False),
        (b"services-x", False),
        (b"service", False),
    ],
)
def test_tag_headers_are_recognized_by_name(name: bytes, is_tag: bool) -> None:
    assert READER.is_tag(name) is is_tag


@given(st.binary(max_size=400))
def test_any_value_becomes_clean_text_and_a_safe_header(raw: bytes) -> None:
    cleaned = clean(raw)
    assert len(cleaned.text) <= MAX_CHARACTERS
    assert not any(character < " " or character == "\x7f" for character in cleaned.text)
    echoed = echo(cleaned.text)
    assert echoed.isascii()
    assert echoed.decode().isprintable()


@given(st.text(max_size=60))
def test_an_echoed_namespace_is_parsed_as_the_same_namespace(text: str) -> None:
    namespace = clean(text.encode(errors="replace").replace(b"%", b"%25")).text
    assert clean(echo(namespace)).text == namespace


def test_property_names_are_not_percent_decoded() -> None:
    tags = read(("Service-Property-User%5FId", b"42"))
    assert tags.properties == {"user%5fid": "42"}


def test_long_values_are_not_cached() -> None:
    before = tracemalloc_of(lambda: [clean(b"%d" % number + b"x" * 30_000) for number in range(200)])
    assert before < 2 << 20
    before = tracemalloc_of(lambda: [read(("Service-Property-A", b"%d" % n + b"x" * 30_000)) for n in range(200)])
    assert before < 2 << 20


@pytest.mark.parametrize("prefix", ["Service-", "Service-Property-"])
def test_long_names_are_not_cached(prefix: str) -> None:
    after = tracemalloc_of(lambda: [read((f"{prefix}{number}{'x' * 30_000}", b"")) for number in range(200)])
    assert after < 2 << 20


@pytest.mark.parametrize("prefix", ["Service-", "Service-Property-"])
def test_a_long_name_is_truncated_in_warnings(prefix: str) -> None:
    """Many clients reject responses with long headers."""
    (warning,) = read((prefix + "x" * 30_000, b"")).warnings
    assert warning.message.startswith(prefix + "xxx")
    assert len(warning.message) < 300


def tracemalloc_of(work: Callable[[], object]) -> int:
    """Return the number of bytes that are still allocated after ``work``."""
    tracemalloc.start()
    work()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return allocated


def test_a_long_run_of_combining_marks_is_handled_quickly() -> None:
    marks = ("\u0301\u0327" * 500_000).encode()
    assert len(clean(marks).text) == MAX_CHARACTERS


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("User_Id", "user-id"),
        (" a b ", "a b"),
        ("a:b", "a:b"),
        ("50%off %41", "50%off %41"),
        ("e\u0301", "é"),
        ("a\tb\x00", "a\ufffdb\ufffd"),
        ("", ""),
        (" \n\u3000", ""),
        ("ÀÉ_名前", "àé-名前"),
    ],
)
def test_the_name_of_a_property_is_normalized(sent: str, stored: str) -> None:
    assert property_name(sent) == stored
    assert property_name(stored) == stored


@given(st.text())
def test_a_normalized_name_is_not_changed_again(text: str) -> None:
    assert property_name(property_name(text)) == property_name(text)


@pytest.mark.parametrize("name", ["", " ", "\t\r\n", "\u3000\u2003"])
def test_metadata_with_an_empty_name_is_dropped_with_a_warning(name: str) -> None:
    properties, warnings = with_metadata({"a": "1"}, {name: "x", "b": "2"}.items())
    assert properties == {"a": "1", "b": "2"}
    assert [code for code, _ in warnings] == ["empty_property_name"]


def test_metadata_is_added_to_the_properties_of_headers_which_win_without_a_warning() -> None:
    sent = {"channel": "header"}
    assert with_metadata(sent, {"Channel": "body", "user_id": "7", "empty": ""}.items()) == (
        {"channel": "header", "user-id": "7", "empty": ""},
        [],
    )
    assert sent == {"channel": "header"}


@pytest.mark.parametrize(
    ("metadata", "properties", "codes"),
    [
        ({"user_id": "1", "User-Id": "2", "USER_ID": "3"}, {"user-id": "1"}, ["duplicate_tag"]),
        ({"user_id": "1", "User-Id": "1"}, {"user-id": "1"}, []),
        ({"a": "x\0y"}, {"a": "x\ufffdy"}, ["control_characters_replaced"]),
        ({"a\x1bb": "x"}, {"a\ufffdb": "x"}, ["control_characters_replaced"]),
        ({"a\ud800": "\udfff"}, {"a\ufffd": "\ufffd"}, ["control_characters_replaced"] * 2),
        ({"a": "50%41"}, {"a": "50%41"}, []),
        ({"a": "x" * 256}, {"a": "x" * 256}, []),
        ({"a": "x" * 300}, {"a": clean(b"x" * 300).text}, ["value_cut"]),
        ({"x" * 300: "v"}, {clean(b"x" * 300).text: "v"}, ["value_cut"]),
        ({"x" * 300: "v\0"}, {clean(b"x" * 300).text: "v\ufffd"}, ["value_cut", "control_characters_replaced"]),
    ],
)
def test_adjusted_metadata_gets_a_warning(
    metadata: dict[str, str], properties: dict[str, str], codes: list[str]
) -> None:
    result, warnings = with_metadata({}, metadata.items())
    assert (result, [code for code, _ in warnings]) == (properties, codes)
    assert all("metadata" in message and len(message) < 300 for _, message in warnings)


def test_the_sixty_fifth_property_warns_also_if_it_is_in_metadata() -> None:
    sent = {f"h{number}": "" for number in range(60)}
    properties, warnings = with_metadata(sent, {f"m{number}": "" for number in range(10)}.items())
    assert list(properties) == [*sent, "m0", "m1", "m2", "m3"]
    assert [code for code, _ in warnings] == ["too_many_properties"]
    full = {f"h{number}": "" for number in range(64)}
    assert with_metadata(full, {"h1": "body"}.items()) == (full, [])


def test_the_number_of_warnings_about_metadata_is_limited() -> None:
    names = (("A" if number & 1 << bit else "a") for number in range(4096) for bit in range(12))
    cases = ["".join(next(names) for _ in range(12)) for _ in range(4096)]
    hostile = [*((name, f"{number}\0") for number, name in enumerate(cases)), *((" " * n, "") for n in range(500))]
    hostile += [(f"{number}\0", "x" * 300) for number in range(1000)]
    properties, warnings = with_metadata({}, hostile)
    assert (len(properties), len(set(warnings))) == (64, len(warnings))
    assert len(warnings) < 200


def test_the_properties_of_a_route_apply_unless_the_request_has_others() -> None:
    reader = TagReader(["Service"], "default", "full", None, {"Tool_Name": "cursor", "team": "a"})
    assert reader.read([]).properties == {"tool-name": "cursor", "team": "a"}
    sent = reader.read([(b"Service-Property-Team", b"b"), (b"Service-Property-User", b"42")])
    assert sent.properties == {"team": "b", "user": "42", "tool-name": "cursor"}
    many = [(b"Service-Property-%d" % number, b"x") for number in range(MAX_PROPERTIES)]
    assert len(reader.read(many).properties) == MAX_PROPERTIES
    assert not reader.read(many).warnings


@pytest.mark.parametrize(
    ("in_path", "namespace", "codes"),
    [
        (b"ios", "ios", []),
        (b"tenant%2F42", "tenant/42", []),
        (b"%20", "default", []),
        (b"50%off", "50%off", []),
        (b"a%00b", "a\ufffdb", ["control_characters_replaced"]),
        (b"x" * 300, None, ["namespace_cut"]),
    ],
)
def test_the_namespace_in_the_path_is_read_like_that_of_a_header(
    in_path: bytes, namespace: str | None, codes: list[str]
) -> None:
    tags = TagReader(["Service"], "default", "full").read([], in_path)
    assert namespace in (tags.namespace, None)
    assert [warning.code for warning in tags.warnings] == codes
    header = TagReader(["Service"], "default", "full").read([(b"Service-Namespace", in_path)])
    assert header.namespace == tags.namespace


def test_a_namespace_in_the_path_that_a_header_replaces_is_not_lost_silently() -> None:
    header = [(b"Service-Namespace", b"ios")]
    tags = TagReader(["Service"], "default", "full").read(header, b"web")
    assert (tags.namespace, [warning.code for warning in tags.warnings]) == ("ios", ["duplicate_tag"])
    for same in (b"ios", b"%69os", b"", b"%20"):
        assert not TagReader(["Service"], "default", "full").read(header, same).warnings


def test_the_tags_of_a_route_are_cleaned() -> None:
    tags = TagReader(["Service"], "a\r\nb", "full", None, {"": "x", "n": "\x1b[31m"}).read([])
    assert (tags.namespace, tags.properties) == ("a\ufffd\ufffdb", {"n": "\ufffd[31m"})
    assert b"\r" not in tags.echo


def test_long_namespaces_in_the_path_are_not_kept_in_memory() -> None:
    reader = TagReader(["Service"], "default", "full")
    for number in range(300):
        reader.read([], b"%d" % number + b"x" * 7000)
    tracemalloc.start()
    for number in range(300, 600):
        reader.read([], b"%d" % number + b"x" * 7000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 1_000_000
