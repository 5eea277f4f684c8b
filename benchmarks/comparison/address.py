"""Provide one upstream address with changing servers, so that proxies do not have to be restarted."""

from contextlib import ExitStack
from pathlib import Path
from typing import Self

import trustme
from tests.support.server import Program

from benchmarks.bench import Bench
from benchmarks.traffic.messages import ANSWER_BODY, HeaderSet
from benchmarks.traffic.nginx import Nginx, free_port

_CANNED = """
  client_max_body_size 0;
  server {{
    listen 127.0.0.1:{port}{tls} backlog=4096; default_type application/json;
{certificate}
    location / {{
{headers}
      return 200 '{body}';
    }}
  }}
"""


class ProviderAddress:
    """A port on loopback. Each method stops the previous server and starts another server."""

    def __init__(self, bench: Bench) -> None:
        self.port = free_port()
        self._bench = bench
        self._running = ExitStack()
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def canned(self, headers: HeaderSet, authority: trustme.CA | None = None) -> None:
        """Start nginx with one completion.

        With ``authority``, nginx uses TLS with a certificate of this CA for ``localhost``.
        """
        place = self._next()
        lines = "\n".join(f"      add_header {name} '{value}';" for name, value in headers.answer.items())
        tls, certificate = "", ""
        if authority is not None:
            tls, certificate = " ssl", _certificate(place, authority)
        values = {"port": self.port, "tls": tls, "certificate": certificate, "headers": lines}
        self._running.enter_context(Nginx(place, _CANNED.format(**values, body=ANSWER_BODY.decode()), self.port))

    def events(self, events: int, interval_ms: float, answer_bytes: int = 0) -> None:
        """Start ``benchmarks.comparison.provider``."""
        place = self._next()
        flags = {"port": self.port, "events": events, "interval-ms": interval_ms, "answer-bytes": answer_bytes}
        arguments = [text for name, value in flags.items() for text in (f"--{name}", str(value))]
        provider = Program(["-m", "benchmarks.comparison.provider", *arguments], place, "provider")
        self._running.callback(provider.kill)
        provider.printed("(ready)")

    def _next(self) -> Path:
        self._running.close()
        self._started += 1
        return self._bench.place(f"provider-{self._started}")


def _certificate(place: Path, authority: trustme.CA) -> str:
    issued = authority.issue_cert("localhost")
    chain, key = place / "chain.pem", place / "key.pem"
    chain.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return f"    ssl_certificate {chain}; ssl_certificate_key {key};"
