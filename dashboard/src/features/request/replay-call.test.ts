import { describe, expect, it } from "vitest";
import { quoted } from "~/format/shell";
import type { RequestDetail, Status } from "~/generated/api-types";
import { sampleRequest } from "~/test/fixtures";
import { type Body, callOf, headerValue } from "./replay-call";
import { asCurl, asNode, asPython, literal } from "./replay-code";

const STATUS = {
  relay_base_url: "http://127.0.0.1:4100/v1",
  sample_data: false,
  settings: { header_prefix: ["Service", "Relaybook"] },
} as unknown as Status;
const call = (body: Body, different = {}) => callOf(sampleRequest(different), STATUS, body);

describe("a request copied as curl", () => {
  it("is sent to the relay with its tags and a key from the environment", () => {
    expect(asCurl(call({ text: '{"model":"gpt-4o-mini"}' }))).toBe(
      [
        "curl 'http://127.0.0.1:4100/v1/chat/completions' \\",
        '  -H "Authorization: Bearer $OPENAI_API_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        "  -H 'Service-Namespace: production' \\",
        "  -H 'Service-Property-Channel: iOS' \\",
        `  --data-raw '{"model":"gpt-4o-mini"}'`,
      ].join("\n"),
    );
  });

  it("is sent to the public URL of the relay, which may have a path", () => {
    const status = { ...STATUS, relay_base_url: "https://corp.example/llm/v1" };
    expect(callOf(sampleRequest({}), status, undefined).url).toBe("https://corp.example/llm/v1/chat/completions");
  });

  it.each([
    ["anthropic", "/anthropic/v1/messages"],
    ["groq", "/groq/openai/v1/chat/completions"],
    ["default", "/v1/chat/completions"],
  ])("is sent to the base URL of the route %s", (route, path) => {
    const status = { ...STATUS, relay_base_url: "https://corp.example/llm/v1" };
    expect(callOf(sampleRequest({ route, path }), status, undefined).url).toBe(`https://corp.example/llm${path}`);
  });

  it("has the namespace that was in the base URL", () => {
    const status = { ...STATUS, settings: { ...STATUS.settings, default_namespace: "default" } };
    const headersFor = (different: Partial<RequestDetail>) =>
      callOf(sampleRequest({ request_headers: [], ...different }), status, undefined).headers;
    expect(headersFor({ namespace: "cursor" })).toEqual([["Service-Namespace", "cursor"]]);
    expect(headersFor({ namespace: "default" })).toEqual([]);
    const sent: RequestDetail["request_headers"] = [["relaybook-namespace", "shop"]];
    expect(headersFor({ namespace: "shop", request_headers: sent })).toEqual(sent);
  });

  it("quotes the body for the shell", () => {
    expect(quoted('it\'s\n$(rm -rf ~) `x` "y" \\')).toBe("'it'\\''s\n$(rm -rf ~) `x` \"y\" \\'");
    expect(asCurl(call({ text: "'; echo owned; '" }))).toContain("--data-raw ''\\''; echo owned; '\\'''");
  });

  it("has no key if none was sent, and quotes header names for the shell", () => {
    expect(asCurl(call(undefined, { method: "GET", request_headers: [] }))).toBe(
      "curl 'http://127.0.0.1:4100/v1/chat/completions'",
    );
    const odd = [["x`id`", "key:3f9a00aa11bb"]];
    expect(asCurl(call(undefined, { method: "GET", request_headers: odd }))).toContain(
      `-H 'x\`id\`: '"$OPENAI_API_KEY"`,
    );
  });

  it("reads a body that is too large for a command from a file", () => {
    expect(asCurl(call({ file: "a-request.txt", note: "" }))).toContain("--data-binary '@a-request.txt'");
  });

  it("percent-encodes tags that are not ASCII", () => {
    const tagged = call(undefined, { request_headers: [["Service-Namespace", "user-\u00c3\u00a9 5%"]] });
    expect(tagged.headers).toEqual([["Service-Namespace", "user-%C3%A9 5%"]]);
  });

  it("derives the tags from the record if the headers are not stored", () => {
    const tagged = call(undefined, {
      request_headers: null,
      namespace: "Zürich 5%",
      properties: { channel: "iOS", "a b": "x" },
    });
    expect(tagged.headers).toEqual([
      ["Content-Type", "application/json"],
      ["Service-Namespace", "Z%C3%BCrich%205%25"],
      ["Service-Property-channel", "iOS"],
    ]);
    expect(headerValue("a b'\"$")).toBe("a b'\"$");
  });
});

describe("a request copied as a script", () => {
  const body = {
    text: '{"model": "gpt-4o", "stream": true, "top_k": 3, "messages": [{"role": "user", "content": "it\'s \\"1\\"\\n2"}]}',
  };
  const streamed = { stream_requested: true };

  it("calls the Python SDK, with other parameters in extra_body", () => {
    const script = asPython(call(body, streamed));
    expect(script).toContain('OpenAI(base_url="http://127.0.0.1:4100/v1", api_key=os.environ["OPENAI_API_KEY"])');
    expect(script).toContain('client.chat.completions.create(\n    model="gpt-4o",\n    stream=True,\n');
    expect(script).toContain('messages=[{"role": "user", "content": "it\'s \\"1\\"\\n2"}],');
    expect(script).toContain('extra_body={"top_k": 3},');
    expect(script).toContain("for event in response:");
  });

  it("calls the Node SDK", () => {
    const script = asNode(call(body, streamed));
    expect(script).toContain('new OpenAI({ baseURL: "http://127.0.0.1:4100/v1", apiKey: process.env.OPENAI_API_KEY })');
    expect(script).toContain('"Service-Namespace": "production"');
    expect(script).toContain("for await (const event of response)");
  });

  it("calls the SDK of Anthropic for messages", () => {
    const message = {
      kind: "message" as const,
      path: "/v1/messages",
      request_headers: [
        ["x-api-key", "key:3f9a00aa11bb"],
        ["anthropic-version", "2023-06-01"],
        ["Service-Namespace", "staging"],
      ] as [string, string][],
    };
    const text = '{"model": "claude-haiku-4-5", "max_tokens": 64, "context": 1, "messages": []}';
    expect(asCurl(call({ text }, message))).toContain('-H "x-api-key: $ANTHROPIC_API_KEY"');
    expect(asPython(call({ text }, message))).toBe(
      [
        "import os",
        "",
        "from anthropic import Anthropic",
        "",
        'client = Anthropic(base_url="http://127.0.0.1:4100", api_key=os.environ["ANTHROPIC_API_KEY"])',
        "response = client.messages.create(",
        '    model="claude-haiku-4-5",',
        "    max_tokens=64,",
        "    messages=[],",
        '    extra_body={"context": 1},',
        '    extra_headers={"Service-Namespace": "staging"},',
        ")",
        "print(response)",
        "",
      ].join("\n"),
    );
    const script = asNode(call({ text }, message));
    expect(script).toContain('import Anthropic from "@anthropic-ai/sdk";');
    expect(script).toContain("apiKey: process.env.ANTHROPIC_API_KEY });");
  });

  it("sends the key to Gemini in the header of its API", () => {
    const generate = {
      kind: "generate" as const,
      path: "/v1/v1beta/models/gemini-2.5-flash:generateContent",
      request_headers: [
        ["x-goog-api-key", "key:3f9a00aa11bb"],
        ["x-goog-user-project", "p1"],
      ] as [string, string][],
    };
    const script = asCurl(call({ text: '{"contents": "Hi"}' }, generate));
    expect(script).toContain('-H "x-goog-api-key: $GEMINI_API_KEY"');
    expect(script).toContain("x-goog-user-project: p1");
    expect(asPython(call({ text: '{"contents": "Hi"}' }, generate))).not.toContain("client");
  });

  it.each([
    ["chat", "/groq/openai/v1/chat/completions", "http://127.0.0.1:4100/groq/openai/v1"],
    ["chat", "/openrouter/api/v1/chat/completions", "http://127.0.0.1:4100/openrouter/api/v1"],
    ["response", "/openai/v1/responses", "http://127.0.0.1:4100/openai/v1"],
  ] as const)("has the base URL of the route, for %s at %s", (kind, path, baseUrl) => {
    expect(asPython(call(body, { kind, path }))).toContain(`OpenAI(base_url="${baseUrl}"`);
    expect(asNode(call(body, { kind, path }))).toContain(`baseURL: "${baseUrl}"`);
  });

  it("works without a key in the environment if the upstream is simulated", () => {
    const simulated = callOf(sampleRequest(), { ...STATUS, sample_data: true }, body);
    expect(asCurl(simulated)).toContain(`"Authorization: Bearer $${"{OPENAI_API_KEY:-any-key}"}"`);
    expect(asPython(simulated)).toContain('api_key=os.environ.get("OPENAI_API_KEY", "any-key")');
    expect(asNode(simulated)).toContain('apiKey: process.env.OPENAI_API_KEY ?? "any-key"');
  });

  it("puts parameters into extra_body that the call of the SDK does not accept by name", () => {
    const chat = asPython(call({ text: '{"model": "m", "messages": [], "instructions": "x"}' }));
    expect(chat).toContain('extra_body={"instructions": "x"},');
    const responses = { kind: "response" as const, path: "/v1/responses" };
    const response = asPython(call({ text: '{"model": "m", "input": "x", "instructions": "x", "n": 1}' }, responses));
    expect(response).toContain('client.responses.create(\n    model="m",\n    input="x",\n    instructions="x",\n');
    expect(response).toContain('extra_body={"n": 1},');
    const headers: [string, string][] = [["x-api-key", "key:3f9a00aa11bb"]];
    const message = { kind: "message" as const, path: "/v1/messages", request_headers: headers };
    expect(asPython(call({ text: '{"model": "m", "messages": [], "max_tokens": 1, "top_k": 3}' }, message))).toContain(
      'extra_body={"top_k": 3},',
    );
  });

  it.each<[kind: "chat" | "message", path: string, header: string]>([
    ["chat", "/v1/openai/deployments/gpt-4o/chat/completions", "api-key: "],
    ["message", "/v1/messages", "Authorization: Bearer "],
    ["chat", "/v1/chat/completions", "Authorization: "],
  ])("uses no SDK if it would send the key in another header: %s %s %s", (kind, path, header) => {
    const [name = "", scheme = ""] = header.split(": ");
    const sent = { kind, path, request_headers: [[name, `${scheme}key:3f9a00aa11bb`]] };
    for (const script of [asPython(call(body, sent)), asNode(call(body, sent))]) {
      expect(script).not.toContain("client");
      expect(script).toContain(`"${name}"`);
    }
  });

  it("uses no SDK if no key was sent, because the SDK would not start or would send the key of the user", () => {
    for (const script of [asPython(call(body, { request_headers: [] })), asNode(call(body, { request_headers: [] }))]) {
      expect(script).not.toMatch(/client|API_KEY/);
    }
  });

  it("uses no Python SDK for a body in a file, whose fields may not be arguments of the SDK", () => {
    const script = asPython(call({ file: "a-request.txt", note: "" }));
    expect(script).toContain('data=open("a-request.txt", "rb").read()');
    expect(script).not.toContain("create(");
  });

  it("prints the bytes of the response in Python, also of an error", () => {
    const script = asPython(call({ text: '{"input":"Hi"}' }, { kind: "audio", path: "/v1/audio/speech" }));
    expect(script).toContain("except urllib.error.HTTPError as error:\n    response = error\n");
    expect(script).toContain("sys.stdout.buffer.write(response.read())");
  });

  it("reads a key that was in the URL from the environment", () => {
    const gemini = {
      kind: "generate" as const,
      path: "/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent",
      query: "alt=sse&key=key:3f9a00aa11bb",
      request_headers: [],
    };
    const copied = asCurl(call({ text: "{}" }, gemini));
    expect(copied).toContain(":streamGenerateContent?alt=sse'");
    expect(copied).toContain('-H "x-goog-api-key: $GEMINI_API_KEY"');
    expect(asCurl(call({ text: "{}" }, { ...gemini, query: "key=key:3f9a00aa11bb" }))).toContain("GenerateContent'");
  });

  it("uses the SDK for a path with a deployment", () => {
    const path = "/v1/openai/deployments/gpt-4o/chat/completions";
    expect(asPython(call(body, { path }))).toContain('base_url="http://127.0.0.1:4100/v1/openai/deployments/gpt-4o"');
  });

  it("uses no SDK if it has no such call", () => {
    const other = { kind: "models" as const, method: "GET", path: "/v1/models" };
    expect(asPython(call(undefined, other))).toContain(
      'urllib.request.Request(\n    "http://127.0.0.1:4100/v1/models"',
    );
    expect(asNode(call(undefined, other))).toContain('fetch("http://127.0.0.1:4100/v1/models"');
    expect(asNode(call({ text: "no json" }))).toContain('body: "no json"');
  });

  it("writes JSON as Python", () => {
    expect(literal({ a: null, b: [true, 1.5], c: "\u2028'\"" })).toBe(
      '{"a": None, "b": [True, 1.5], "c": "\u2028\'\\""}',
    );
  });
});

describe("numbers that JavaScript would round", () => {
  const body = { text: '{"model":"m","seed":1234567890123456789,"temperature":1.0,"messages":[]}' };

  it("are copied as they were sent", () => {
    for (const copied of [asCurl(call(body)), asPython(call(body)), asNode(call(body))]) {
      expect(copied).toContain("1234567890123456789");
      expect(copied).toContain("1.0");
    }
  });

  it("prevent the use of the SDK only in Node", () => {
    expect(asPython(call(body))).toContain("seed=1234567890123456789,");
    expect(asNode(call(body))).toContain("await fetch(");
    expect(asNode(call({ text: '{"model":"m","temperature":1.0}' }))).toContain('"temperature": 1.0');
  });
});
