"""Sample traffic for the demo: what a few small applications would send, under namespaces of every kind."""

import http.client
import json
import random
import threading
import time
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

_QUESTIONS: Final = (
    "Where is my refund for order 4411?",
    "Summarise this contract in two sentences.",
    "Write a haiku about rain.",
    "What is the weather in Rome?",
    "Translate to German: the contract begins in May.",
    "Plan my week around two deadlines.",
)
_ENVIRONMENTS: Final = ("production", "production", "production", "staging", "development")
_CHANNELS: Final = ("iOS", "Android", "web")
_MODELS: Final = ("gpt-4o-mini", "gpt-4o-mini", "gpt-4o", "o4-mini")
_FIRST: Final = 24
_PAUSE_SECONDS: Final = (0.5, 4.0)


def send_samples(base_url: str) -> NoReturn:
    """Sends a first handful at once, then one now and then, until the process ends."""
    chance = random.Random(7)  # noqa: S311 - the same demo for everybody
    sent = 0
    while True:
        time.sleep(0.02 if sent < _FIRST else chance.uniform(*_PAUSE_SECONDS))
        threading.Thread(target=_send, args=(base_url, *_sample(chance)), daemon=True).start()
        sent += 1


def _sample(chance: random.Random) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of one request."""
    user = f"user-{chance.randrange(12):04x}"
    namespace = chance.choice((chance.choice(_ENVIRONMENTS), chance.choice(_CHANNELS), user))
    headers = {
        "Authorization": "Bearer sk-demo-sample",
        "Content-Type": "application/json",
        "User-Agent": "relaybook-demo",
        "Service-Namespace": namespace,
        "Service-Property-Channel": chance.choice(_CHANNELS),
    }
    body: dict[str, Any] = {
        "model": chance.choice(_MODELS),
        "messages": [{"role": "user", "content": chance.choice(_QUESTIONS)}],
        "user": user,
        "temperature": 0.7,
    }
    if chance.random() < 0.6:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    what = chance.random()
    if what < 0.08:
        headers["Sim-Status"] = "429"
    elif what < 0.12:
        body["model"] = "no-such-model"
    elif what < 0.15:
        headers["Sim-Break"] = "event:6"
    return headers, body


def _send(base_url: str, headers: dict[str, str], body: dict[str, Any]) -> None:
    parts = urlsplit(base_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body), headers)
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return  # the sample of a provider that breaks off
    finally:
        connection.close()
