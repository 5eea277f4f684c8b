"""Train a dictionary for the column ``other_fields``: ``python -m benchmarks.train_dictionary <file>``.

The samples have typical values of clients and providers, random ids, and pieces of the documentation as previews. The
result depends on the version of zstd and on the documentation, so it differs from the dictionary in the package. A log
that was written with one dictionary cannot be read with another.
"""

import sys
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import msgspec
import zstandard

from relaybook.log.store.sqlite.other_fields import OTHER_FIELDS

#: A larger dictionary does not make the column smaller.
_BYTES: Final = 4096
_SAMPLES: Final = 6000
_DOCS: Final = Path(__file__).parents[1] / "docs"
_OTHER_LANGUAGES: Final = """
Wie kann ich mein Passwort zurücksetzen? Fassen Sie den folgenden Text in drei Sätzen zusammen.
Pouvez-vous résumer ce document en français ? Voici les étapes à suivre pour créer un compte.
¿Cómo puedo cambiar mi dirección de correo electrónico? Escribe una función que ordene una lista.
Как мне изменить адрес доставки? Переведите этот текст на английский язык.
この文章を英語に翻訳してください。次のコードの問題点を説明してください。
请把这段话翻译成英文。请总结这篇文章的主要内容。
"""
_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "upstream": (
        "https://api.openai.com/v1",
        "https://api.openai.com/v1",
        "https://api.anthropic.com/v1",
        "https://generativelanguage.googleapis.com/v1beta",
        "https://api.mistral.ai/v1",
        "https://openrouter.ai/api/v1",
        "https://example.openai.azure.com/openai/v1",
        "http://localhost:11434/v1",
        "http://127.0.0.1:8000/v1",
    ),
    "method": ("POST", "POST", "POST", "POST", "POST", "GET"),
    "query": ("", "", "", "", "", "beta=true", "alt=sse", "api-version=2025-04-01-preview"),
    "client_address": ("127.0.0.1", "10.0.0.12", "10.244.1.37", "172.17.0.1", "192.168.1.20", "::1"),
    "user_agent": (
        "OpenAI/Python 3.1.0",
        "AsyncOpenAI/Python 2.8.1",
        "OpenAI/JS 6.9.1",
        "Anthropic/Python 0.71.0",
        "AsyncAnthropic/Python 0.71.0",
        "Anthropic/JS 0.68.0",
        "google-genai-sdk/1.47.0 gl-python/3.11.7",
        "python-httpx/0.28.1",
        "python-requests/2.32.5",
        "litellm/1.79.0",
        "Go-http-client/1.1",
        "node",
        "curl/8.14.1",
        None,
    ),
    "response_model": (
        "gpt-4o-2024-08-06",
        "gpt-4o-mini-2024-07-18",
        "gpt-5-2025-08-07",
        "gpt-5-mini-2025-08-07",
        "o4-mini-2025-04-16",
        "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5-20251001",
        "gemini-2.5-flash",
        "mistral-large-latest",
        None,
    ),
    "stream": (False, True),
    "stream_requested": (None, False, True),
    "tokens_estimated": (False, False, False, True),
    "prices_version": ("2026-01-15", "2026-05-20", "2026-11-01", "2027-03-08", None),
    "body_state": ("stored", "stored", "stored", "stored", "expired", "no_bodies"),
}


def main(path: Path) -> None:
    random = Random(1)
    text = _OTHER_LANGUAGES * 40 + "".join(file.read_text() for file in sorted(_DOCS.rglob("*.md")))
    samples: list[bytes | bytearray | memoryview] = [
        msgspec.msgpack.encode(_sample(random, text)) for _ in range(_SAMPLES)
    ]
    path.write_bytes(zstandard.train_dictionary(_BYTES, samples, level=3).as_bytes())


def _sample(random: Random, text: str) -> list[Any]:
    """Return the values of one request."""

    def piece() -> str:
        start = random.randrange(len(text) - 200)
        return " ".join(text[start : start + random.randrange(20, 200)].split())

    values = {field: random.choice(options) for field, options in _VALUES.items()}
    values["provider_request_id"] = random.choice((f"req_{random.getrandbits(128):032x}", str(_uuid(random)), None))
    values["client_request_id"] = random.choice((str(_uuid(random)), None))
    values["trace_id"] = random.choice((f"{random.getrandbits(128):032x}", None, None, None))
    values["prompt_cache_key"] = random.choice((str(_uuid(random)), None, None, None, None, None))
    if random.randrange(20) == 0:
        values["error_message"] = piece()
    values["input_preview"], values["output_preview"] = piece(), piece()
    return [values.get(field) for field in OTHER_FIELDS]


def _uuid(random: Random) -> UUID:
    return UUID(int=random.getrandbits(128), version=4)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
