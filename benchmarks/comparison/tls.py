"""Measure the cost of encryption for every proxy with plain requests to an upstream with TLS."""

from contextlib import ExitStack

import trustme

from benchmarks.comparison.field import Field, rest
from benchmarks.comparison.requests import one_round
from benchmarks.peers.peer import NotInstalled, Peer, Upstream
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.wrk import run_wrk

_ROUNDS = 2
_SECONDS = 1
_UNTIL_S = 510
_CONNECTIONS = 32
_ROW = "CPU per request, five headers, TLS to the upstream"


def measure_tls(field: Field) -> None:
    """Restart every proxy with trust in the upstream's self-signed CA, and measure the proxy.

    No other program may run at the same time.
    """
    authority = trustme.CA()
    ca_file = field.bench.directory / "authority.pem"
    authority.cert_pem.write_to_path(ca_file)
    field.provider.canned(FIVE, authority)
    upstream = Upstream(field.provider.port, ca_file)
    with ExitStack() as stack:
        peers: dict[str, Peer] = {}
        for entry in field.to_start_anew():
            if (made := field.start(entry, "tls", upstream)) is not None:
                peers[entry.name] = made
        for name, peer in [*peers.items()]:
            try:
                stack.enter_context(peer)
            except (NotInstalled, OSError, AssertionError) as error:
                field.result.note(_ROW, name, f"it did not start: {error}"[:100])
                del peers[name]
        for peer in peers.values():
            run_wrk(peer.port, FIVE, 1, _CONNECTIONS, peer.headers)
            rest(peer)
        for number in field.rounds(_ROUNDS, _UNTIL_S):
            for name, peer in peers.items():
                found = one_round(peer, FIVE, field.bench.seconds(_SECONDS), _CONNECTIONS)
                field.result.rounds.append({"what": "tls", "proxy": name, "round": number} | found)
    for name in peers:
        rounds = [each for each in field.result.rounds if each["what"] == "tls" and each["proxy"] == name]
        if any(each["failed"] or each["broken"] for each in rounds) or not all("cpu_us" in each for each in rounds):
            field.result.note(_ROW, name, "requests failed")
        else:
            field.result.cell(_ROW, name, field.result.median("cpu_us", what="tls", proxy=name), "µs")
