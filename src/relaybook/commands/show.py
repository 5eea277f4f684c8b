"""``relaybook show``: prints one request, found by any id it carries."""

import json

from relaybook.commands.failure import CommandFailed
from relaybook.commands.source import open_log
from relaybook.commands.transcript import transcript
from relaybook.commands.words import escape, may_be_id, today
from relaybook.configuration import Configuration


def show(configuration: Configuration, any_id: str, *, as_json: bool = False) -> int:
    """Ours first, else the newest that carries the id as the provider's, completion's or client's."""
    detail = open_log(configuration).find(any_id) if may_be_id(any_id) else None
    if detail is None:
        raise CommandFailed(
            f"No request in the log has the id {escape(any_id[:80])}: not as ours, nor as the provider's, completion's "
            "or client's. relaybook tail --ids tells those of the latest requests."
        )
    print(json.dumps(detail) if as_json else transcript(detail, today()))
    return 0
