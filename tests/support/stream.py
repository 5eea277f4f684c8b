"""Run a streamed request in the background of a test."""

import http.client
import json
import threading
from typing import Final

from tests.support.server import Server

_PATH: Final = "/v1/chat/completions"
_KEY: Final = "sk-streaming-caller"
_QUESTION: Final = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}


class Stream:
    """A running stream that a separate thread reads to its end.

    ``directives`` are for the simulated upstream (``docs/reference/simulator.md``).
    """

    def __init__(self, server: Server, number: int, **directives: str) -> None:
        self.text = b""
        self.ended_cleanly = False
        body = json.dumps({**_QUESTION, "stream": True, "user": f"user-{number}"})
        headers = {"Authorization": f"Bearer {_KEY}", **{f"Sim-{name}": value for name, value in directives.items()}}
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._connection.request("POST", _PATH, body, headers)
        self._response = self._connection.getresponse()
        self.id = self._response.headers["Service-Request-Id"]
        self.text = self._response.read1()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            while data := self._response.read1():
                self.text += data
            self.ended_cleanly = True
        except (http.client.HTTPException, OSError, ValueError):
            pass
        self._connection.close()

    def end(self) -> bytes:
        """Wait until the connection is closed, and return everything received."""
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.text
