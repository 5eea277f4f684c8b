"""Claims about tags: none fails a call, none vanishes silently."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.tags import MAX_CHARACTERS, TagReader, Tags, clean, echo

READER = TagReader(["Service", "Relaybook"], "default", "full")


def read(*lines: tuple[str, bytes]) -> Tags:
    return READER.read([(name.encode(), value) for name, value in lines])


def codes(tags: Tags) -> list[str]:
    return [note.code for note in tags.warnings]


def test_without_tags_the_defaults_hold() -> None:
    tags = read()
    assert (tags.namespace, tags.properties, tags.log, tags.warnings) == ("default", {}, "full", ())


@pytest.mark.parametrize(
    ("sent", "kept"),
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
def test_a_namespace_is_kept_as_it_was_meant(sent: bytes, kept: str) -> None:
    tags = read(("Service-Namespace", sent))
    assert (tags.namespace, codes(tags)) == (kept, [])


def test_an_empty_namespace_is_the_default() -> None:
    assert read(("Service-Namespace", b" ")).namespace == "default"


def test_long_values_are_cut_and_never_merge() -> None:
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


def test_bytes_that_are_no_utf8_are_read_as_latin1_with_a_warning() -> None:
    tags = read(("Service-Namespace", b"caf\xe9"))
    assert (tags.namespace, codes(tags)) == ("café", ["not_utf8"])


def test_of_two_different_values_the_first_wins_with_a_warning() -> None:
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


def test_a_misspelt_header_is_named_with_a_suggestion() -> None:
    (note,) = read(("Service-Namspace", b"ios")).warnings
    assert note.code == "unknown_header"
    assert "Service-Namspace" in note.message
    assert "did you mean Service-Namespace?" in note.message


@pytest.mark.parametrize(("value", "log"), [(b"full", "full"), (b"no-bodies", "no-bodies"), (b"ful", "no-bodies")])
def test_any_unknown_log_value_counts_as_no_bodies(value: bytes, log: str) -> None:
    tags = read(("Service-Log", value))
    assert tags.log == log
    assert codes(tags) == ([] if value != b"ful" else ["unknown_log_value"])


def test_a_header_can_only_lower_what_the_operator_set() -> None:
    reader = TagReader(["Service"], "default", "no-bodies")
    assert reader.read([(b"Service-Log", b"full")]).log == "no-bodies"


def test_the_prefix_a_request_uses_is_used_in_its_answer() -> None:
    assert read(("Relaybook-Namespace", b"a")).prefix == "Relaybook"
    assert read().prefix == "Service"


@pytest.mark.parametrize(
    ("name", "ours"),
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
def test_what_is_ours_by_its_name(name: bytes, ours: bool) -> None:
    assert READER.is_tag(name) is ours


@given(st.binary(max_size=400))
def test_whatever_is_sent_becomes_clean_text_and_a_safe_header(raw: bytes) -> None:
    cleaned = clean(raw)
    assert len(cleaned.text) <= MAX_CHARACTERS
    assert not any(letter < " " or letter == "\x7f" for letter in cleaned.text)
    shown = echo(cleaned.text)
    assert shown.isascii()
    assert shown.decode().isprintable()


@given(st.text(max_size=60))
def test_the_echo_of_a_namespace_reads_back_as_the_namespace(text: str) -> None:
    namespace = clean(text.encode(errors="replace").replace(b"%", b"%25")).text
    assert clean(echo(namespace)).text == namespace


def test_names_of_properties_are_taken_as_sent() -> None:
    tags = read(("Service-Property-User%5FId", b"42"))
    assert tags.properties == {"user%5fid": "42"}


def test_long_values_are_not_kept_in_memory() -> None:
    before = tracemalloc_of(lambda: [clean(b"%d" % number + b"x" * 30_000) for number in range(200)])
    assert before < 2 << 20
    before = tracemalloc_of(lambda: [read(("Service-Property-A", b"%d" % n + b"x" * 30_000)) for n in range(200)])
    assert before < 2 << 20


def tracemalloc_of(work: Callable[[], object]) -> int:
    """Bytes that stay in memory after the work."""
    tracemalloc.start()
    work()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept


def test_a_long_run_of_combining_marks_is_no_work() -> None:
    marks = ("\u0301\u0327" * 500_000).encode()
    assert len(clean(marks).text) == MAX_CHARACTERS
