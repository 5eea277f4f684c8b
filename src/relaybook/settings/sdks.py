"""List the SDKs and libraries that send requests, and how each is connected to the relay."""

from typing import Final

from relaybook.settings.client_setup import Client, Snippet

_OPENAI_VARIABLE: Final = (
    "Without changing a program, set `OPENAI_CUSTOM_HEADERS` to one `Name: value` per line. Libraries that use this "
    "SDK read the variable, too."
)
_ANTHROPIC_VARIABLE: Final = "Without changing a program, set `ANTHROPIC_CUSTOM_HEADERS` to one `Name: value` per line."
_OPENAI_ENVIRONMENT: Final = Snippet(
    "In the environment, without changing the program",
    "sh",
    """\
export OPENAI_BASE_URL={{url}}
export OPENAI_API_KEY={{key}}
export OPENAI_CUSTOM_HEADERS='{{prefix}}-Namespace: my-app
{{prefix}}-Property-Team: web'
""",
)
_ANTHROPIC_ENVIRONMENT: Final = Snippet(
    "In the environment, without changing the program",
    "sh",
    """\
export ANTHROPIC_BASE_URL={{url}}
export ANTHROPIC_API_KEY={{key}}
export ANTHROPIC_CUSTOM_HEADERS='{{prefix}}-Namespace: my-app
{{prefix}}-Property-Team: web'
""",
)
_NO_V1: Final = "The base URL has no `/v1`, because the SDK appends `/v1/messages`."

SDKS: Final = (
    Client(
        *("python", "OpenAI Python", "SDKs", "openai"),
        setup=(
            Snippet(
                *("In the program", "python"),
                """\
from openai import OpenAI

client = OpenAI(
    base_url="{{url}}",
    api_key="{{any_key}}",
    default_headers={"{{prefix}}-Namespace": "my-app"},  # for all requests of this client
)
response = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Hello"}],
    extra_headers={"{{prefix}}-Property-User-Id": "42"},  # for this request only
)
print(response.choices[0].message.content)
""",
            ),
            _OPENAI_ENVIRONMENT,
        ),
        tags=f"`default_headers` for all requests, `extra_headers` for one request. {_OPENAI_VARIABLE}",
        notes=(
            "In `AzureOpenAI`, set `azure_endpoint` to the base URL of a route with the preset `azure`.",
            "Calls over WebSocket, such as `realtime.connect`, are not supported.",
        ),
        tested="openai 3.52.0",
    ),
    Client(
        *("node", "OpenAI Node", "SDKs", "openai"),
        setup=(
            Snippet(
                *("In the program", "js"),
                """\
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "{{url}}",
  apiKey: "{{any_key}}",
  defaultHeaders: { "{{prefix}}-Namespace": "my-app" }, // for all requests of this client
});
const response = await client.chat.completions.create(
  { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] },
  { headers: { "{{prefix}}-Property-User-Id": "42" } }, // for this request only
);
console.log(response.choices[0].message.content);
""",
            ),
            _OPENAI_ENVIRONMENT,
        ),
        tags=f"`defaultHeaders` for all requests, `headers` for one request. {_OPENAI_VARIABLE}",
        tested="openai 7.57.0",
    ),
    Client(
        *("anthropic-python", "Anthropic Python", "SDKs", "anthropic"),
        setup=(
            Snippet(
                *("In the program", "python"),
                """\
from anthropic import Anthropic

client = Anthropic(
    base_url="{{url}}",
    api_key="{{any_key}}",
    default_headers={"{{prefix}}-Namespace": "my-app"},  # for all requests of this client
)
message = client.messages.create(
    model="claude-haiku-4-5",
    max_tokens=256,
    messages=[{"role": "user", "content": "Hello"}],
    extra_headers={"{{prefix}}-Property-User-Id": "42"},  # for this request only
)
print(message.content)
""",
            ),
            _ANTHROPIC_ENVIRONMENT,
        ),
        tags=f"`default_headers` for all requests, `extra_headers` for one request. {_ANTHROPIC_VARIABLE}",
        notes=(_NO_V1,),
        tested="anthropic 2.13.0",
    ),
    Client(
        *("anthropic-node", "Anthropic TypeScript", "SDKs", "anthropic"),
        setup=(
            Snippet(
                *("In the program", "js"),
                """\
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: "{{url}}",
  apiKey: "{{any_key}}",
  defaultHeaders: { "{{prefix}}-Namespace": "my-app" }, // for all requests of this client
});
const message = await client.messages.create(
  { model: "claude-haiku-4-5", max_tokens: 256, messages: [{ role: "user", content: "Hello" }] },
  { headers: { "{{prefix}}-Property-User-Id": "42" } }, // for this request only
);
console.log(message.content);
""",
            ),
            _ANTHROPIC_ENVIRONMENT,
        ),
        tags=f"`defaultHeaders` for all requests, `headers` for one request. {_ANTHROPIC_VARIABLE}",
        notes=(_NO_V1,),
        tested="@anthropic-ai/sdk 1.14.0",
    ),
    Client(
        *("gemini-python", "Google GenAI Python", "SDKs", "gemini"),
        setup=(
            Snippet(
                *("In the program", "python"),
                """\
from google import genai

client = genai.Client(
    api_key="{{any_key}}",
    http_options={
        "base_url": "{{url}}",
        "headers": {"{{prefix}}-Namespace": "my-app"},  # for all requests of this client
    },
)
response = client.models.generate_content(model="gemini-2.5-flash", contents="Hello")
print(response.text)
""",
            ),
        ),
        tags="`headers` in `http_options`, for all requests.",
        notes=(
            "Instead of `base_url`, you can set the environment variable `GOOGLE_GEMINI_BASE_URL`.",
            "The Live API uses WebSocket, which is not supported.",
        ),
        tested="google-genai 3.6.1",
    ),
    Client(
        *("gemini-js", "Google GenAI JS", "SDKs", "gemini"),
        setup=(
            Snippet(
                *("In the program", "js"),
                """\
import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: "{{any_key}}",
  httpOptions: {
    baseUrl: "{{url}}",
    headers: { "{{prefix}}-Namespace": "my-app" }, // for all requests of this client
  },
});
const response = await client.models.generateContent({ model: "gemini-2.5-flash", contents: "Hello" });
console.log(response.text);
""",
            ),
        ),
        tags="`headers` in `httpOptions`, for all requests.",
        notes=("The Live API uses WebSocket, which is not supported.",),
        tested="@google/genai 3.3.0",
    ),
    Client(
        *("ollama", "Ollama Python", "SDKs", "ollama"),
        setup=(
            Snippet(
                *("In the program", "python"),
                """\
from ollama import Client

client = Client(
    host="{{url}}",
    headers={"{{prefix}}-Namespace": "my-app"},  # for all requests of this client
)
response = client.chat(model="llama3.2", messages=[{"role": "user", "content": "Hello"}])
print(response.message.content)
""",
            ),
            Snippet(
                *("In the environment, also for the command ollama", "sh"), "export OLLAMA_HOST={{namespace_url}}\n"
            ),
        ),
        tags="`headers` of the client. With `OLLAMA_HOST` only, put the namespace into the base URL.",
        notes=("The JavaScript SDK is configured in the same way: `new Ollama({ host, headers })`.",),
        tested="ollama 0.6.3",
    ),
    Client(
        *("langchain", "LangChain", "SDKs", "openai"),
        setup=(
            Snippet(
                *("In the program", "python"),
                """\
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="gpt-4o-mini",
    base_url="{{url}}",
    api_key="{{any_key}}",
    default_headers={"{{prefix}}-Namespace": "my-app"},
    stream_usage=True,  # otherwise, the tokens of streams are estimates
)
print(model.invoke("Hello").content)
""",
            ),
        ),
        tags=f"`default_headers`, in JavaScript `configuration.defaultHeaders`. {_OPENAI_VARIABLE}",
        notes=(
            "`ChatAnthropic` of langchain-anthropic needs the base URL `{{root}}/anthropic`, without `/v1`, and has "
            "`default_headers`, too.",
        ),
        tested="langchain-openai 1.7.4",
    ),
    Client(
        *("ai-sdk", "Vercel AI SDK", "SDKs", "openai"),
        setup=(
            Snippet(
                *("In the program", "js"),
                """\
import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const openai = createOpenAI({
  baseURL: "{{url}}",
  apiKey: "{{any_key}}",
  headers: { "{{prefix}}-Namespace": "my-app" }, // for all requests of this provider
});
const { text } = await generateText({
  model: openai("gpt-4o-mini"),
  prompt: "Hello",
  headers: { "{{prefix}}-Property-User-Id": "42" }, // for this request only
});
console.log(text);
""",
            ),
        ),
        tags="`headers` of the provider for all requests, `headers` of a call for one request.",
        notes=(
            "`createAnthropic` needs `/v1` in the base URL: `{{root}}/anthropic/v1`.",
            "`streamText` with `@ai-sdk/openai-compatible` asks for no usage, so the tokens of streams are estimates.",
        ),
        tested="ai 6.0.326",
    ),
    Client(
        *("curl", "curl", "SDKs", "openai"),
        setup=(
            Snippet(
                *("In a shell", "sh"),
                """\
curl {{url}}/chat/completions \\
  -H "Authorization: Bearer {{$OPENAI_API_KEY}}" \\
  -H 'Content-Type: application/json' \\
  -H '{{prefix}}-Namespace: my-app' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
""",
            ),
        ),
        tags="A header of the request, with `-H`.",
        notes=("To see the id of the record in the headers of the response, add `-i`.",),
        tested="any version",
    ),
)
