"""Write the operator's log to standard error, as JSON lines with stable ``event`` names.

Control characters are escaped. If standard error is a terminal, only warnings and errors are shown, as plain sentences.
"""

import json
import logging
import sys
from typing import Final

from relaybook import clock

#: The sentence that a terminal shows for each warning and error.
SENTENCES: Final = {
    "api_failed": "{method} {path} failed on the dashboard. Please report this error:",
    "response_cut": "The response to {method} {path} was cut off: {reason}",
    "reserve_released": "the disk is full, so the recorder freed its reserve of {bytes} bytes and continues",
    "batch_rejected": "the store rejected a batch of records, but no record is lost. Please report this error: "
    "{reason}",
    "body_damaged": "a stored body is damaged, so its request is logged without the body: {reason}",
    "child_died": "{role} exited with code {code} and will be restarted in {restart_ms} ms",
    "child_killed": "{role} did not stop in time and was killed",
    "child_not_started": "{role} could not be started, and the server will try again: {reason}",
    "few_descriptors": "a relay may open only {limit} files, so the relay accepts only {connections} connections. "
    "Raise the limit on open files, for example with ulimit -n",
    "frames_lost": "the journal is damaged, and {frames} frames of run {run} are lost. Test the disk and the memory",
    "import_delayed": "requests could not be imported, so the import will be continued later: {reason}",
    "import_failed": "some requests could not be imported. Please report this error:",
    "journal_failed": "running requests cannot be logged completely: {reason}",
    "unsupported_data": "{reason}",
    "live_poll_failed": "the dashboard could not read the log and will try again:",
    "log_unavailable": "requests cannot be logged: {reason}",
    "not_recorded": "some requests are only in {data}, because {store} could not be written in time or rejected the "
    "requests. To record these requests, run relaybook drain, or start the server again",
    "not_ready": "the dashboard could not read the log: {reason}",
    "over_disk_budget": "the log takes {used} bytes, which is more than disk_budget ({budget}), so its oldest data is "
    "removed",
    "pass_delayed": "the {work} could not continue, and will be tried again: {reason}",
    "pass_failed": "the {work} could not continue, and will be tried again. Please report this error:",
    "record_quarantined": "request {id} could not be stored and is now in the quarantine: {reason}",
    "relay_failed": "the relay failed and is being restarted. Please report this error:",
    "reload_refused": "the reload was refused: {reason}",
    "body_not_read": "the bodies of request {id} could not be read, so they are only stored. Please report this error:",
    "reread_failed": "request {id} could not be read again, so its fields did not change. Please report this error:",
    "retention_delayed": "old requests could not be removed from the log, so the removal will be repeated: {reason}",
    "run_unreadable": "some requests are not recorded for now, because a journal file cannot be read or deleted: "
    "{reason}. Give Relaybook's user access to {run}",
    "store_deleted": "another program deleted the store, so the requests in the store are lost. Logging continues in "
    "an empty store: {reason}",
    "store_set_aside": (
        "the store is unusable and was moved to {to}. Logging continues in an empty store. Reason: {reason} To "
        "copy back the readable records, stop the server and run relaybook check --salvage"
    ),
    "store_unavailable": "the store is unavailable and will be tried again in {next_try_seconds} s: {reason}",
    "sync_failed": "the disk failed to sync, so the recorder restarts and reads the unrecorded part of the journal "
    "again: {reason}",
    "text_not_indexed": "the search index could not be updated and will be updated later: {reason}",
    "text_not_read": "the text of request {id} could not be indexed. Please report this error:",
    "text_pass_failed": "the search index could not be updated and will be updated later. Please report this error:",
}

_STANDARD_FIELDS = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {
    "message",
    "asctime",
    "taskName",
}


class JsonFormatter(logging.Formatter):
    """Writes each event as a JSON object on one line.

    In a log call, the message is the name of the event, and ``extra`` has the fields of the event.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "at": clock.format_timestamp(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "part": record.name.removeprefix("relaybook."),
            "event": record.getMessage(),
        }
        fields |= _extra(record)
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


class Lines(logging.Formatter):
    """Writes each event as one sentence: ``relaybook: relay did not stop in time and was killed``."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        fields = {name: _plain(str(value)) for name, value in _extra(record).items()}
        if message in SENTENCES:
            text = SENTENCES[message].format_map(fields)
        else:
            text = " ".join([_plain(message), *(f"{name}={value}" for name, value in fields.items())])
        error = self.formatException(record.exc_info).splitlines() if record.exc_info else []
        return "\n".join([f"relaybook: {text}", *map(_plain, error)])


def log_to_stderr() -> None:
    """Set up this process's operator's log: sentences if standard error is a terminal, otherwise JSON lines."""
    is_terminal = sys.stderr.isatty()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines() if is_terminal else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING if is_terminal else logging.INFO)
    for name in ("asyncio", "httpx2", "openai"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # uvicorn warns of each malformed request


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD_FIELDS}


def _plain(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return text if text.isprintable() else json.dumps(text)[1:-1]
