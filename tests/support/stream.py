"""A streamed call that goes on while a test does something else."""

import http.client
import json
import threading
from typing import Final

from tests.support.server import Server

_PATH: Final = "/v1/chat/completions"
_KEY: Final = "sk-streaming-caller"
_QUESTION: Final = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}


class Stream:
    """A running stream, read to its end by a thread of its own.

    ``directives`` tell the simulated provider how to answer (``docs/reference/simulator.md``).
    """

    def __init__(self, server: Server, number: int, **directives: str) -> None:
        self.text = b""
        self.ended_cleanly = False
        body = json.dumps({**_QUESTION, "stream": True, "user": f"user-{number}"})
        headers = {"Authorization": f"Bearer {_KEY}", **{f"Sim-{name}": value for name, value in directives.items()}}
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._connection.request("POST", _PATH, body, headers)
        self._answer = self._connection.getresponse()
        self.id = self._answer.headers["Service-Request-Id"]
        self.text = self._answer.read1()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            while data := self._answer.read1():
                self.text += data
            self.ended_cleanly = True
        except (http.client.HTTPException, OSError, ValueError):
            pass
        self._connection.close()

    def end(self) -> bytes:
        """All that came, once the connection is over."""
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.text
