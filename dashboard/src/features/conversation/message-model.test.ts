import { describe, expect, it } from "vitest";
import { normalizePart } from "./content-parts";
import { argumentsLine, describeEmbeddings, messageOf } from "./message-model";

const sent = (url: string) =>
  normalizePart({ type: "image_url", text: null, raw: { type: "image_url", image_url: { url } } });

describe("an image in a message", () => {
  it("is shown if it is inside the message and in a safe format", () => {
    expect(sent("data:image/png;base64,AAAA")).toEqual({
      kind: "picture",
      source: "data:image/png;base64,AAAA",
      label: "image, png, 3 B",
    });
  });

  it("is shown if it is an Anthropic image with its bytes", () => {
    const raw = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(normalizePart({ type: "image", text: null, raw })).toMatchObject({
      kind: "picture",
      label: "image, png, 3 B",
    });
  });

  it("is described if its format is not safe, or it is very large", () => {
    expect(sent("data:image/svg+xml;base64,AAAA")).toMatchObject({
      kind: "other",
      label: "image, svg+xml, 3 B, not shown",
    });
    expect(sent(`data:image/png;base64,${"A".repeat(6 << 20)}`)).toMatchObject({ kind: "other" });
    expect(sent("data:text/html,<script>")).toMatchObject({ kind: "other" });
  });

  it("is a link if it is on the web, and a description otherwise", () => {
    expect(sent("https://evil.example/x.png")).toMatchObject({
      kind: "remote",
      label: "image at evil.example (not loaded)",
    });
    expect(sent("javascript:alert(1)")).toMatchObject({ kind: "other" });
  });
});

describe("a message", () => {
  it("names other parts by type and size", () => {
    expect(
      normalizePart({ type: "input_audio", raw: { input_audio: { data: "A".repeat(4000), format: "wav" } } }),
    ).toMatchObject({
      label: "audio, wav, 3 kB",
    });
    expect(
      normalizePart({
        type: "file",
        raw: { file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${"A".repeat(400)}` } },
      }),
    ).toMatchObject({
      label: "file, a.pdf, 300 B",
    });
  });

  it("has the tool calls and results of both APIs", () => {
    expect(
      messageOf({
        role: "assistant",
        text: null,
        parts: [],
        tool_calls: [{ id: "c1", function: { name: "f", arguments: "{}" } }],
      }).calls,
    ).toEqual([{ id: "c1", name: "f", args: "{}" }]);
    const item = {
      role: null,
      text: null,
      parts: [],
      name: "f",
      other: { type: "function_call", call_id: "c1", arguments: "{}" },
    };
    expect(messageOf(item)).toMatchObject({ role: "assistant", calls: [{ id: "c1", name: "f", args: "{}" }] });
    const result = {
      role: null,
      text: null,
      parts: [],
      other: { type: "function_call_output", call_id: "c1", output: "21 °C" },
    };
    expect(messageOf(result)).toMatchObject({ role: "tool", callId: "c1", parts: [{ kind: "text", text: "21 °C" }] });
  });

  it("shows arguments that are not valid JSON unchanged", () => {
    expect(argumentsLine('{"city": "Rome", "days": [1, 2]}')).toBe('city: "Rome", days: [1,2]');
    expect(argumentsLine('{"city": "Ro')).toBe('{"city": "Ro');
  });

  it("accepts messages of any shape", () => {
    for (const invalid of [
      null,
      7,
      "x",
      [],
      { role: 5, parts: "x", tool_calls: {}, other: [] },
      { parts: [null, 3] },
    ]) {
      expect(() => messageOf(invalid)).not.toThrow();
    }
  });

  it("counts the vectors of an embedding, as numbers or as base64", () => {
    expect(describeEmbeddings({ data: [{ embedding: [1, 2, 3] }, { embedding: [1, 2, 3] }] })).toBe(
      "2 vectors of 3 numbers",
    );
    expect(describeEmbeddings({ data: [{ embedding: btoa("x".repeat(1536 * 4)) }] })).toBe("1 vector of 1,536 numbers");
  });
});
