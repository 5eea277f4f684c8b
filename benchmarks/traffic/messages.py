"""Define the requests and responses of the load, with several sets of headers."""

from dataclasses import dataclass

REQUEST_BODY = (
    b'{"model":"gpt-4o-mini","messages":[{"role":"system","content":"You are a helpful assistant that answers '
    b'questions about the history of computing in a friendly tone."},{"role":"user","content":"Tell me about the first '
    b"transistor computers and who built them, in a short paragraph please. I would like to know the years too, and "
    b'what became of the people."}],"temperature":0.7,"max_completion_tokens":256,"n":1,'
    b'"frequency_penalty":0,"presence_penalty":0,"user":"user-4711-0815"}'
)
ANSWER_BODY = (
    b'{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":'
    b'"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"The first transistor '
    b"computer ran in Manchester in November 1953; Richard Grimsdale and Douglas Webb built it. Bell Labs followed "
    b"with TRADIC for the Air Force in 1954, and Harwell with CADET in 1955, the first without any valves. IBM sold "
    b'its 7090 from 1959 on, and the valve was over within five years.","refusal":null,"annotations":[]},'
    b'"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":62,"completion_tokens":84,"total_tokens":146,'
    b'"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},'
    b'"service_tier":"default","system_fingerprint":"fp_0ba0d124f1"}'
)


@dataclass(frozen=True)
class HeaderSet:
    """Request headers besides Host and Content-Length, and response headers besides the five headers of nginx.

    Under load by wrk, the values of ``varying`` request headers differ between requests.
    """

    name: str
    request: dict[str, str]
    answer: dict[str, str]
    varying: tuple[str, ...] = ()

    def request_head(self, host: str, path: str = "/v1/chat/completions") -> bytes:
        """Return the complete head of a request with ``REQUEST_BODY``."""
        lines = [f"{name}: {value}" for name, value in self.request.items()]
        head = [f"POST {path} HTTP/1.1", f"Host: {host}", *lines, f"Content-Length: {len(REQUEST_BODY)}", "", ""]
        return "\r\n".join(head).encode()


#: 5 request headers and 6 response headers, as with curl or a simple client.
FIVE = HeaderSet(
    "five",
    {
        "Content-Type": "application/json",
        "Authorization": "Bearer sk-test-1234567890",
        "Service-Namespace": "production",
    },
    {"x-request-id": "req_6f2a8b8bd1c94d0f8a4e3f0f5b1c2d3e"},
)
#: 19 request headers (openai 3.52 for Python, a namespace, one property) and 25 response headers (api.openai.com).
SDK = HeaderSet(
    "sdk",
    {
        "Accept-Encoding": "gzip, deflate, br",
        "Connection": "keep-alive",
        "authorization": "Bearer sk-test-1234567890",
        "accept": "application/json",
        "content-type": "application/json",
        "user-agent": "OpenAI/Python 3.52.0",
        "x-stainless-lang": "python",
        "x-stainless-package-version": "3.52.0",
        "x-stainless-os": "Linux",
        "x-stainless-arch": "x64",
        "x-stainless-runtime": "CPython",
        "x-stainless-runtime-version": "3.11.7",
        "service-namespace": "production",
        "service-property-user-id": "4711",
        "x-stainless-async": "false",
        "x-stainless-retry-count": "0",
        "x-stainless-read-timeout": "600",
    },
    {
        "access-control-expose-headers": "X-Request-ID",
        "openai-organization": "org-simulated",
        "openai-processing-ms": "512",
        "openai-project": "proj_simulated",
        "openai-version": "2020-10-01",
        "x-envoy-upstream-service-time": "514",
        "x-ratelimit-limit-requests": "10000",
        "x-ratelimit-limit-tokens": "30000000",
        "x-ratelimit-remaining-requests": "9999",
        "x-ratelimit-remaining-tokens": "29999972",
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": "0s",
        "x-request-id": "req_6f2a8b8bd1c94d0f8a4e3f0f5b1c2d3e",
        "x-openai-proxy-wasm": "v0.1",
        "cf-cache-status": "DYNAMIC",
        "set-cookie": "__cf_bm=0f8a4e3f0f5b1c2d3e6f2a8b8bd1c94d; path=/; HttpOnly; Secure; SameSite=None",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains; preload",
        "X-Content-Type-Options": "nosniff",
        "CF-RAY": "8bd1c94d0f8a4e3f-FRA",
        "alt-svc": 'h3=":443"; ma=86400',
    },
)
#: The same headers as ``SDK``, but each head differs by trace ids and by a property with the user.
TRACED = HeaderSet(
    "traced",
    SDK.request | {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba9"},
    SDK.answer,
    ("traceparent", "service-property-user-id"),
)
