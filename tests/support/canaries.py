"""Fill a request with values that occur nowhere else, and search files for them."""

import random
from pathlib import Path

from tests.support.files import contents_below, raw_and_decompressed
from tests.support.records import an_entry

from relaybook.log.record import Detail, Feedback, Note
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.port import Writer


def canary(chosen: random.Random, what: str) -> str:
    return f"{''.join(chosen.choice('bcdfghjklmnpqrstvwxz') for _ in range(24))}{what}"


class Canaries:
    """Distinct values for every field of a request that can hold text from a client."""

    def __init__(self, seed: int) -> None:
        chosen = random.Random(seed)
        names = [
            "prompt",
            "answer",
            "header",
            "namespace",
            "name",
            "value",
            "model",
            "user",
            "session",
            "key",
            "id",
            "completion",
            "error",
            "preview",
            "agent",
            "large",
            "source",
            "label",
            "comment",
            "early",
        ]
        self.values = {name: canary(chosen, name) for name in names}

    def entry(self, writer: Writer) -> Entry:
        of = self.values
        ref = writer.write_body(of["large"].encode() * 2000)
        return an_entry(
            Body(refs=[ref], rest=[of["prompt"].encode()]),
            of["answer"].encode(),
            Detail(request_head=f"x-secret: {of['header']}".encode()),
            namespace=of["namespace"],
            properties={of["name"]: of["value"]},
            model=of["model"],
            user=of["user"],
            session=of["session"],
            key=of["key"],
            client_request_id=of["id"],
            completion_id=of["completion"],
            error_message=of["error"],
            input_preview=of["preview"],
            user_agent=of["agent"],
            warnings=[Note("value_cut", of["header"])],
            feedback=[Feedback(source=of["source"], label=of["label"], comment=of["comment"], at=1)],
        )

    def found(self, directory: Path) -> set[str]:
        """Return the names of the values that occur in any file below the directory, compressed or not."""
        texts = [text for _, content in contents_below(directory) for text in raw_and_decompressed(content)]
        return {name for name, value in self.values.items() if any(value[4:20].encode() in text for text in texts)}
