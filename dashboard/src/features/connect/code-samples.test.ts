import { describe, expect, it } from "vitest";
import { statusWith } from "~/test/fixtures";
import { exportLines, samplesOf } from "./code-samples";
import { connectionOf } from "./connection";

const real = connectionOf(statusWith());
const demo = connectionOf(statusWith({ sample_data: true }));
const codes = (to: typeof real) => samplesOf(to).map((sample) => sample.code);

describe("samples", () => {
  it("use this base URL and tag the request", () => {
    for (const code of codes(real)) {
      expect(code).toContain("http://127.0.0.1:4100/v1");
      expect(code).toContain("Service-Namespace");
    }
  });

  it("use no namespace of the sample data, so that the first request is easy to find", () => {
    for (const code of codes(demo)) {
      expect(code).not.toMatch(/Namespace"?: "?(production|staging|development|default|iOS|Android|web)\b/);
    }
  });

  it("have no key for a real upstream, because libraries read it from the environment", () => {
    expect(codes(real).filter((code) => /api_?key=|apiKey/i.test(code.replace("$OPENAI_API_KEY", "")))).toEqual([]);
    expect(exportLines(real).key).toBe("export OPENAI_API_KEY=your-provider-key");
  });

  it("run unchanged with the simulated upstream", () => {
    for (const code of codes(demo)) expect(code).toContain("any-key");
    expect(exportLines(demo)).toEqual({
      url: "export OPENAI_BASE_URL=http://127.0.0.1:4100/v1",
      key: "export OPENAI_API_KEY=any-key",
    });
  });

  it("use the first header prefix of the settings", () => {
    const ours = connectionOf(statusWith({ settings: { header_prefix: ["Acme"], default_namespace: "web" } }));
    for (const code of codes(ours)) expect(code).toContain("Acme-Namespace");
    expect(ours.defaultNamespace).toBe("web");
  });

  it("quote an address that a shell would take for a pattern", () => {
    const six = connectionOf(statusWith({ relay_base_url: "http://[::1]:4100/v1" }));
    expect(exportLines(six).url).toBe("export OPENAI_BASE_URL='http://[::1]:4100/v1'");
    expect(codes(six).join()).toContain("curl 'http://[::1]:4100/v1/chat/completions'");
  });
});
