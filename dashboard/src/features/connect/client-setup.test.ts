import { describe, expect, it } from "vitest";
import type { RouteRow } from "~/generated/api-types";
import { CLIENTS } from "~/generated/clients";
import { A_ROUTE, ANTHROPIC_ROUTE, statusWith } from "~/test/fixtures";
import { exportLines, setupOf } from "./client-setup";
import { connectionOf } from "./connection";

const real = connectionOf(statusWith());
const demo = connectionOf(statusWith({ sample_data: true }));
const several = connectionOf(statusWith({ routes: [A_ROUTE, ANTHROPIC_ROUTE] }));

function clientOf(id: string) {
  const client = CLIENTS.find((each) => each.id === id);
  if (client === undefined) throw new Error(`no client ${id}`);
  return client;
}

function codeOf(id: string, connection = real, chosen = A_ROUTE): string {
  return setupOf(clientOf(id), connection, chosen)
    .snippets.map(({ code }) => code)
    .join("\n");
}

const codes = (connection: typeof real) => CLIENTS.map(({ id }) => codeOf(id, connection));

describe("the setups of all clients", () => {
  it("have no placeholder left", () => {
    for (const { id } of CLIENTS) {
      for (const connection of [real, demo, several]) {
        const setup = setupOf(clientOf(id), connection, A_ROUTE);
        expect(JSON.stringify(setup)).not.toContain("{{");
      }
    }
  });

  it("use the URL of this relay", () => {
    const elsewhere = connectionOf(
      statusWith({
        relay_base_url: "https://corp.example/llm/v1",
        routes: [{ ...A_ROUTE, base_url: "https://corp.example/llm/v1" }],
      }),
    );
    const chosen = elsewhere.routes[0] ?? A_ROUTE;
    for (const { id } of CLIENTS) expect(codeOf(id, elsewhere, chosen)).toContain("https://corp.example/llm/");
    expect(codeOf("cursor", elsewhere, chosen)).toContain("https://corp.example/llm/ns/my-app/v1");
  });

  it("use no namespace of the sample data, so that the first request is easy to find", () => {
    for (const code of codes(demo)) {
      expect(code).not.toMatch(/Namespace"?: "?(production|staging|development|default|iOS|Android|web)\b/);
    }
  });

  it("have no key in a program for a real upstream, because SDKs read it from the environment", () => {
    const programs = CLIENTS.flatMap((client) => setupOf(client, real, A_ROUTE).snippets).filter(({ language }) =>
      ["python", "js"].includes(language),
    );
    expect(programs.filter(({ code }) => /api_?key/i.test(code))).toEqual([]);
    expect(codeOf("curl")).toContain("Bearer $OPENAI_API_KEY");
  });

  it("run unchanged with the simulated upstream", () => {
    expect(codeOf("python", demo)).toContain('api_key="any-key"');
    expect(codeOf("curl", demo)).toContain("Bearer any-key");
    expect(codeOf("claude-code", demo)).toContain("export ANTHROPIC_API_KEY=any-key");
    expect(codes(demo).join()).not.toContain("your-provider-key");
  });

  it("use the first header prefix of the settings", () => {
    const ours = connectionOf(statusWith({ settings: { header_prefix: ["Acme"], default_namespace: "shop" } }));
    expect(codeOf("codex", ours)).toContain('"Acme-Namespace" = "codex"');
    expect(codes(ours).join()).not.toContain("Service-");
    expect(ours.defaultNamespace).toBe("shop");
  });

  it("quote an address that a shell would take for a pattern", () => {
    const six: RouteRow = { ...A_ROUTE, base_url: "http://[::1]:4100/v1" };
    const status = connectionOf(statusWith({ relay_base_url: six.base_url, routes: [six] }));
    expect(exportLines(status, six)).toContain("export OPENAI_BASE_URL='http://[::1]:4100/v1'\n");
    expect(codeOf("curl", status, six)).toContain("curl 'http://[::1]:4100/v1/chat/completions'");
    expect(codeOf("codex", status, six)).toContain('base_url = "http://[::1]:4100/v1"');
  });
});

describe("the route of a client", () => {
  it("is the chosen route if it serves the client, otherwise another one", () => {
    const groq = { ...A_ROUTE, name: "groq", base_url: "http://127.0.0.1:4100/groq/openai/v1", preset: "groq" };
    const routes = [A_ROUTE, ANTHROPIC_ROUTE, { ...groq, variable: "OPENAI_BASE_URL" }];
    const connection = connectionOf(statusWith({ routes }));
    const chosen = routes[2] ?? A_ROUTE;
    expect(codeOf("python", connection, chosen)).toContain("http://127.0.0.1:4100/groq/openai/v1");
    expect(setupOf(clientOf("claude-code"), connection, chosen).route?.name).toBe("anthropic");
    expect(codeOf("claude-code", connection, chosen)).toContain(
      "export ANTHROPIC_BASE_URL=http://127.0.0.1:4100/anthropic\n",
    );
  });

  it("is missing if none serves it, and the setup is for the route of its preset", () => {
    const setup = setupOf(clientOf("gemini-cli"), several, A_ROUTE);
    expect(setup.route).toBeUndefined();
    expect(setup.snippets[0]?.code).toContain("GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4100/gemini\n");
  });

  it("is the default route if its upstream is that of the preset, without the version", () => {
    const anthropic = { ...A_ROUTE, upstream: "https://api.anthropic.com/v1" };
    const connection = connectionOf(statusWith({ routes: [anthropic] }));
    expect(codeOf("claude-code", connection, anthropic)).toContain("ANTHROPIC_BASE_URL=http://127.0.0.1:4100\n");
    expect(setupOf(clientOf("python"), connection, anthropic).route).toBeUndefined();
    expect(codeOf("python", connection, anthropic)).toContain('base_url="http://127.0.0.1:4100/openai/v1"');
  });
});

it("the lines for the environment name the variables of the route", () => {
  expect(exportLines(real, A_ROUTE)).toBe(
    "export OPENAI_BASE_URL=http://127.0.0.1:4100/v1\nexport OPENAI_API_KEY=your-provider-key\n",
  );
  expect(exportLines(several, ANTHROPIC_ROUTE)).toBe(
    "export ANTHROPIC_BASE_URL=http://127.0.0.1:4100/anthropic\nexport ANTHROPIC_API_KEY=your-provider-key\n",
  );
  const ollama = { ...A_ROUTE, base_url: "http://127.0.0.1:4100/ollama", variable: "OLLAMA_HOST" };
  expect(exportLines(several, ollama)).toBe("export OLLAMA_HOST=http://127.0.0.1:4100/ollama\n");
  expect(exportLines(demo, A_ROUTE)).toContain("export OPENAI_API_KEY=any-key\n");
});
