/** Code samples for clients. Pure. */

import { shellWord } from "~/format/shell";
import type { Connection } from "./connection";

/** A code sample. `kind` has no spaces. `note` is shown below the code. */
export type Sample = { kind: string; title: string; note: string; code: string };

/** The lines that set base URL and key in the environment. */
export function exportLines({ baseUrl, anyKey }: Connection): { url: string; key: string } {
  return {
    url: `export OPENAI_BASE_URL=${shellWord(baseUrl)}`,
    key: `export OPENAI_API_KEY=${anyKey ?? "your-provider-key"}`,
  };
}

export function samplesOf(to: Connection): Sample[] {
  return [python(to), node(to), curl(to), langChain(to)];
}

function python({ baseUrl, anyKey, prefix }: Connection): Sample {
  return {
    kind: "python",
    title: "Python",
    note: `pip install openai. ${keyNote(anyKey)}`,
    code: `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}",${anyKey === null ? "" : `\n    api_key="${anyKey}",`}
    default_headers={"${prefix}-Namespace": "my-app"},  # for all requests of this client
)

answer = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Hello"}],
    extra_headers={"${prefix}-Namespace": "user-42"},  # for this request only
)
print(answer.choices[0].message.content)
`,
  };
}

function node({ baseUrl, anyKey, prefix }: Connection): Sample {
  return {
    kind: "node",
    title: "Node",
    note: `npm install openai. ${keyNote(anyKey)}`,
    code: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${baseUrl}",${anyKey === null ? "" : `\n  apiKey: "${anyKey}",`}
  defaultHeaders: { "${prefix}-Namespace": "my-app" }, // for all requests of this client
});

const answer = await client.chat.completions.create(
  { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] },
  { headers: { "${prefix}-Namespace": "user-42" } }, // for this request only
);
console.log(answer.choices[0].message.content);
`,
  };
}

function curl({ baseUrl, anyKey, prefix }: Connection): Sample {
  return {
    kind: "curl",
    title: "curl",
    note: anyKey === null ? "The API key is read from OPENAI_API_KEY." : "Any API key works.",
    code: `curl ${shellWord(`${baseUrl}/chat/completions`)} \\
  -H "Authorization: Bearer ${anyKey ?? "$OPENAI_API_KEY"}" \\
  -H 'Content-Type: application/json' \\
  -H '${prefix}-Namespace: my-app' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
`,
  };
}

function langChain({ baseUrl, anyKey, prefix }: Connection): Sample {
  return {
    kind: "langchain",
    title: "LangChain",
    note: `pip install langchain-openai. ${keyNote(anyKey)}`,
    code: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="gpt-4o-mini",
    base_url="${baseUrl}",${anyKey === null ? "" : `\n    api_key="${anyKey}",`}
    default_headers={"${prefix}-Namespace": "my-app"},
)
print(model.invoke("Hello").content)
`,
  };
}

function keyNote(anyKey: string | null): string {
  return anyKey === null
    ? "The library reads the API key from OPENAI_API_KEY."
    : "The upstream is simulated, so any API key works.";
}
