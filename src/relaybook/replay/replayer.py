"""Answer each request of a client with a logged response, or with an error that names the nearest logged request."""

import threading
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from relaybook.log.ask.replay import ignored_paths
from relaybook.log.request_key import target_key
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.routes import split_namespace
from relaybook.replay.index import Index, Match
from relaybook.replay.not_found import error_body, message_of, nearest
from relaybook.replay.recording import NotReplayable, Recording, load
from relaybook.replay.source import ClientRequest, LogUnreadable, RecordedLog

_hide_secrets: Final = Fingerprints(b"").target


class Failure(NamedTuple):
    """An error of the replay itself. ``body`` is JSON."""

    status: int
    body: bytes


class Answer(NamedTuple):
    """A logged response or a failure, and the value of the header ``Service-Replay``."""

    response: Recording | Failure
    header: str


class Replayer:
    """Finds the response for each request. Methods may be called from several threads."""

    def __init__(
        self,
        log: RecordedLog,
        terms: Sequence[tuple[str, str]] = (),
        *,
        ignored: Sequence[str] = (),
        only_id: str | None = None,
    ) -> None:
        """With ``only_id``, each request gets the response of this request, and ``terms`` are not used."""
        self.omitted = 0
        self._log = log
        self._terms = list(terms)
        self._fields = list(ignored)
        self._ignored = ignored_paths(ignored)
        self._only_id = only_id
        self._index = Index(self._ignored)
        self._after = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def paths(self) -> dict[tuple[str, str], int]:
        """The number of requests that can be replayed by method and path, most frequent first."""
        return dict(self._index.paths.most_common())

    def read(self, on_progress: Callable[[int], object] = lambda _: None) -> None:
        """Add the requests that were logged since the last call."""
        if self._only_id is not None:
            return
        while True:
            page = self._log.replayable(self._terms, self._after, self._fields)
            for request in page.data:
                self._index.add(request)
            self.omitted += page.omitted
            is_stuck, self._after = page.after <= self._after, page.after
            on_progress(len(self._index))
            if page.complete or is_stuck:
                return

    def answer(self, request: ClientRequest) -> Answer:
        """Return the answer to a request. If no logged request equals it, new requests in the log are read first."""
        request = _comparable(request)
        try:
            return self._answer(request)
        except LogUnreadable as error:
            return Answer(Failure(503, error_body(request, str(error), "log_unreadable")), "none")

    def _answer(self, request: ClientRequest) -> Answer:
        with self._lock:
            found = self._find(request)
            if found is None:
                self.read()
                found = self._find(request)
            if found is None:
                near = nearest(self._log, self._index, request, self._ignored)
                body = error_body(request, message_of(request, near, self._index, is_filtered=bool(self._terms)))
                return Answer(Failure(404, body), "none" if near.id is None else f"none; nearest={near.id}")
        header = f"{found.rule}; id={found.id}; number={found.number}/{found.total}"
        try:
            return Answer(load(self._log, found.id), header)
        except NotReplayable as error:
            message = f"The response of {found.id} cannot be replayed, because {error}"
            return Answer(Failure(404, error_body(request, message, "not_replayable")), header)

    def _find(self, request: ClientRequest) -> Match | None:
        return Match(self._only_id, "id") if self._only_id is not None else self._index.find(request)


def _comparable(request: ClientRequest) -> ClientRequest:
    """Return a request whose target can be compared with that of a logged request."""
    _, target = split_namespace(request.target.encode("latin-1"))
    path, _, query = _hide_secrets(target).decode("latin-1").partition("?")
    return request._replace(target=target_key(path, query))
