"""Generate the heads and bodies of the big log, and conversations whose requests grow turn by turn."""

import random
from collections.abc import Callable
from typing import Final

from benchmarks.big_log.words import FEATURES, Model

_SYSTEM: Final = {
    feature: f"You are the {feature} assistant of a shop. Answer briefly, in the language of the question.".encode()
    for feature in FEATURES
}
_REQUEST_HEAD: Final = (
    b"host: 127.0.0.1:4100\r\ncontent-type: application/json\r\nuser-agent: OpenAI/Python 3.52.0\r\n"
    b"accept: application/json\r\nauthorization: Bearer key:%s\r\nx-client-request-id: %s"
)
_RESPONSE_HEAD: Final = (
    b"date: Sat, 21 Nov 2026 14:02:31 GMT\r\ncontent-type: application/json\r\nx-request-id: %s\r\n"
    b"openai-processing-ms: %d\r\nx-ratelimit-remaining-requests: %d\r\nserver: cloudflare\r\ncf-ray: %s-FRA"
)
_ANSWER: Final = (
    b'{"id":"%s","object":"chat.completion","created":%d,"model":"%s","choices":[{"index":0,"message":{"role":'
    b'"assistant","content":"%s","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":'
    b'{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},'
    b'"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_44709d6fcb"}'
)
_ERROR: Final = b'{"error":{"message":"%s","type":"%s","param":null,"code":"%s"}}'
ERROR_MESSAGES: Final = {
    "rate_limit_exceeded": "Rate limit reached for requests. Try again in 20 s.",
    "server_error": "The server had an error while processing your request. Sorry about that!",
    "context_length_exceeded": "This model's maximum context length is 8192 tokens.",
    "upstream_unreachable": "The upstream could not be reached.",
}
#: The distribution of turns per conversation, as cumulative share, minimum and maximum. 200 turns are rare.
_LENGTHS: Final = ((0.40, 1, 1), (0.75, 2, 5), (0.95, 6, 12), (0.999, 13, 40), (1.0, 41, 200))


def request_head(key: str, client_request_id: str) -> bytes:
    """Return the header lines of a request."""
    return _REQUEST_HEAD % (key.encode(), client_request_id.encode())


def response_head(provider_request_id: str, duration_us: int, bits: int) -> bytes:
    """Return the header lines of a response."""
    ray = provider_request_id[4:20].encode()
    return _RESPONSE_HEAD % (provider_request_id.encode(), duration_us // 1000, bits & 0x1FFF, ray)


def request_body(model: str, feature: str, messages: bytes, user: str | None) -> bytes:
    """Return the body of a chat completion request."""
    asking = b',"user":"%s"' % user.encode() if user else b""
    return (
        b'{"model":"%s","messages":[{"role":"system","content":"%s"},%s],"temperature":0.7,"max_completion_tokens":512%s}'
        % (model.encode(), _SYSTEM[feature], messages, asking)
    )


def response_body(completion_id: str, at_us: int, model: str, text: bytes, tokens: tuple[int, int, int]) -> bytes:
    """Return the body of a response that is not streamed. ``tokens`` are input, output and cached tokens."""
    asked, answered, cached = tokens
    head = (completion_id.encode(), at_us // 1_000_000, model.encode(), text)
    return _ANSWER % (*head, asked, answered, asked + answered, cached)


def error_body(code: str) -> bytes:
    """Return the body of an error response from the upstream or from Relaybook."""
    return _ERROR % (ERROR_MESSAGES[code].encode(), code.encode(), code.encode())


def user_message(text: str) -> bytes:
    """Return the only message of a request."""
    return b'{"role":"user","content":"%s"}' % text.encode()


def conversation_length(chance: random.Random) -> int:
    """Draw the number of turns of a conversation."""
    share = chance.random()
    return next(chance.randint(least, most) for below, least, most in _LENGTHS if share < below)


class Conversation:
    """A conversation of one user with one model. Failed turns are retried."""

    __slots__ = ("_ask", "feature", "messages", "model", "namespace", "question", "turns_left")

    def __init__(self, namespace: str, model: Model, feature: str, turns: int, ask: Callable[[], str]) -> None:
        """``ask`` returns the text of the next message."""
        self.namespace, self.model, self.feature, self.turns_left = namespace, model, feature, turns
        self._ask = ask
        self.question = ask()
        self.messages = user_message(self.question)

    def add_response(self, answer: bytes) -> None:
        """End the turn and add the next message."""
        self.turns_left -= 1
        self.question = self._ask()
        said = b',{"role":"assistant","content":"%s"},{"role":"user","content":"%s"}'
        self.messages += said % (answer, self.question.encode())
