"""A client that sends one request after the other, to see whether a server misses one."""

import http.client
import threading
from typing import Final

from tests.support.server import Server

PATH: Final = "/v1/chat/completions"
QUESTION: Final = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
HEADERS: Final = {"Authorization": "Bearer sk-reloading-caller", "Content-Type": "application/json"}


class RepeatingClient(threading.Thread):
    """Send requests over a kept connection until ``stop`` is called. Record every id and every error."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.ids: list[str] = []
        self.errors: list[str] = []
        self._server = server
        self._stop_requested = threading.Event()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=60)
        while not self._stop_requested.is_set():
            try:
                connection.request("POST", PATH, QUESTION, HEADERS)
                response = connection.getresponse()
                body = response.read()
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(repr(error))
                connection.close()
                self._stop_requested.wait(0.01)  # the server may be gone
                continue
            if response.status != 200 or not body.endswith(b"}"):
                self.errors.append(f"{response.status} {body[-200:]!r}")
            self.ids.append(response.headers["Service-Request-Id"])
        connection.close()

    def stop(self) -> None:
        self._stop_requested.set()
        self.join(120)
        assert not self.is_alive()
