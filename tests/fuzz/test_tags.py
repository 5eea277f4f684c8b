"""Fuzz the parser of tags: the tags can always be stored and echoed, and every warning has a message."""

import random
import re
from typing import Final

from tests.fuzz.fuzzing import fuzz

from relaybook.tags import MAX_CHARACTERS, MAX_PROPERTIES, TagReader

SEEDS: Final = [
    b"Service-Namespace: production\nService-Property-User-Id: 42\nService-Log: full",
    b"service-namespace: %E6%9D%B1\nService-Namespace: b\nService-Log: none",
    b"Relaybook-Namespace: a%0d%0ab\nService-Property-a_b: 1\nService-Property-A-B: 2",
    b"Service-Namspace: x\nService-Property-: y\nService-: z\nService-Namespace:" + b"n" * 300,
    b"\n".join(b"Service-Property-P%d: v" % number for number in range(80)),
]
WORDS: Final = [
    *(
        b"\n",
        b":",
        b"%",
        b"%00",
        b"%0d%0a",
        b"%ff",
        b"%c3%a9",
        b"\xc3\xa9",
        b"\xe9",
        b"\x1b[31m",
        b"\0",
        b"Service-Log: ",
    ),
    *("\u202e\u2028\ufeff".encode(), "e\u0301".encode() * 200, "\U0001f600".encode() * 300, b"Service-Property-", b" "),
    b"Relaybook-Warning: ",
]
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def tags_are_usable(data: bytes, _: random.Random) -> None:
    reader = TagReader(["Service", "Relaybook"], "default", "full")
    sent = [(name, value.strip(b" \t")) for name, _, value in (line.partition(b":") for line in data.split(b"\n"))]
    tags = reader.read((name, value) for name, value in sent if reader.is_tag(name.lower()))
    texts = [tags.namespace, *tags.properties, *tags.properties.values()]
    for text in texts:
        assert len(text) <= MAX_CHARACTERS
        assert not _CONTROL.search(text)
        text.encode()
    assert tags.namespace
    assert len(tags.properties) <= MAX_PROPERTIES
    assert tags.echo.isascii()
    assert tags.echo.decode().isprintable()
    assert tags.prefix in ("Service", "Relaybook")
    for note in tags.warnings:
        assert note.code.isidentifier()
        note.message.encode()
    if any(name.lower() == b"service-log" and value.strip().lower() != b"full" for name, value in sent):
        assert tags.log == "no-bodies"


def test_no_tag_makes_the_parser_fail_or_return_unusable_tags() -> None:
    fuzz(tags_are_usable, SEEDS, WORDS, 8_000)
