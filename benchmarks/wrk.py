"""Load by wrk: one thread, many connections, each sending its next request when the answer came.

64 requests of different lengths take turns, so that a relay which remembers what it saw last gains no more by it than
in use.
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.messages import REQUEST_BODY, HeaderSet

_SCRIPT = """
local requests, n = {}, 0
function init()
  for i = 1, 64 do
    for _, name in ipairs(varying) do wrk.headers[name] = varying_begin[name] .. string.format("%04d", i) end
    requests[i] = wrk.format("POST", nil, wrk.headers, body .. string.rep(" ", i % 32))
  end
end
function request()
  n = n % 64 + 1
  return requests[n]
end
function done(summary, latency, requests)
  local e = summary.errors
  print(string.format('RESULT {"requests":%d,"errors":%d,"p50_us":%d,"p99_us":%d,"microseconds":%d}', summary.requests,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99),
    summary.duration))
end
"""


@dataclass(frozen=True)
class Load:
    """What one run of wrk did."""

    requests: int
    errors: int
    p50_us: int
    p99_us: int
    microseconds: int


def run_wrk(port: int, headers: HeaderSet, seconds: float, connections: int = 32) -> Load:
    """Posts completions for so many seconds (whole ones)."""
    lines = [f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in headers.request.items()]
    lines.append(f"body = {json.dumps(REQUEST_BODY.decode())}")
    lines.append(f"varying = {{{', '.join(map(json.dumps, headers.varying))}}}")
    begin = (f"[{json.dumps(name)}] = {json.dumps(headers.request[name])}" for name in headers.varying)
    lines.append(f"varying_begin = {{{', '.join(begin)}}}")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        Path(file.name).write_text("\n".join([*lines, _SCRIPT]))
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "-s", file.name, url]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = next(line for line in output.splitlines() if line.startswith("RESULT "))
    return Load(**json.loads(found.removeprefix("RESULT ")))
