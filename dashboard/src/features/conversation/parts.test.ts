import { describe, expect, it } from "vitest";
import type { Part } from "~/generated/api-types";
import { argumentsLine, partsOf, plainText, showMedia, titleOf, toolResultOf } from "./parts";

const image = (url: string) => showMedia("image", { url });

describe("an image", () => {
  it("is shown if it is inside the message and in a safe format", () => {
    const url = "data:image/png;base64,AAAA";
    expect(showMedia("image", { type: "image/png", bytes: 3, url })).toEqual({
      kind: "picture",
      source: url,
      label: "image, png, 3 B",
    });
    for (const start of ["data:image/jpeg", "data:image/gif", "DATA:IMAGE/WEBP", "data:image/png;name=a.png"]) {
      expect(image(`${start};base64,AAAA`)).toMatchObject({ kind: "picture" });
    }
  });

  it("is described if its format is not safe, or it is very large", () => {
    expect(showMedia("image", { type: "image/svg+xml", bytes: 3, url: "data:image/svg+xml;base64,AAAA" })).toEqual({
      kind: "described",
      label: "image, svg+xml, 3 B, not shown",
    });
    for (const url of [
      `data:image/png;base64,${"A".repeat(6 << 20)}`,
      "data:text/html,<script>",
      "data:image/png,AAAA",
      "data:image/svg+xml;x=image/png;base64,AAAA",
    ]) {
      expect(image(url)).toMatchObject({ kind: "described" });
    }
  });

  it("is a link if it is on the web, and a description otherwise", () => {
    expect(image("https://evil.example/x.png")).toEqual({
      kind: "remote",
      address: "https://evil.example/x.png",
      label: "image at evil.example (not loaded)",
    });
    for (const url of ["javascript:alert(1)", "gs://bucket/a.png", "file:///etc/passwd", "/api/session", "AAAA"]) {
      expect(image(url)).toEqual({ kind: "described", label: "image at an address that is not http or https" });
    }
  });
});

describe("media in the stored body", () => {
  const content = "requests/1/media/request/0/1";

  it("are shown or played from there, except images that are very large", () => {
    expect(showMedia("audio", { type: "audio/wav", url: "data:audio/wav;base64,AAAA", content })).toEqual({
      kind: "stored",
      path: content,
      label: "audio, wav",
    });
    expect(showMedia("image", { name: "a.png", bytes: 300, content })).toMatchObject({ kind: "stored" });
    expect(showMedia("image", { name: "a.png", bytes: 6 << 20, content })).toMatchObject({ kind: "described" });
  });

  it("is not needed for images whose bytes are in the message", () => {
    expect(showMedia("image", { url: "data:image/png;base64,AAAA", content })).toMatchObject({ kind: "picture" });
  });
});

describe("other media", () => {
  it.each<[Part["kind"], Part["media"], string]>([
    ["audio", { type: "audio/wav", bytes: 36_000, url: "data:audio/wav;base64,AAAA" }, "audio, wav, 36 kB"],
    ["file", { type: "application/pdf", name: "a.pdf", bytes: 300 }, "file, a.pdf, 300 B"],
    ["file", { name: "file-abc" }, "file, file-abc"],
    ["file", { name: "a.pdf", url: "https://example.com/a.pdf" }, "file, a.pdf at example.com (not loaded)"],
    ["video", { type: "video/mp4" }, "video, mp4"],
    ["image", {}, "image"],
  ])("is named by kind, name or type, and size: %s %j", (kind, media, label) => {
    expect(showMedia(kind, media ?? {}).label).toBe(label);
  });

  it("is never shown as an image", () => {
    expect(showMedia("file", { url: "data:image/png;base64,AAAA" })).toMatchObject({ kind: "described" });
  });
});

describe("a message", () => {
  it("is copied as text, with calls, labels of media, and without reasoning", () => {
    const parts: Part[] = [
      { kind: "reasoning", text: "Hm" },
      { kind: "image", media: { type: "image/png", bytes: 34_000 } },
      { kind: "audio", text: "Hello.", media: { type: "audio/wav" } },
      { kind: "text", text: "Look" },
      { kind: "refusal", text: "I cannot." },
      { kind: "tool_call", name: "f", arguments: '{"a":1}' },
      { kind: "tool_call" },
      { kind: "other", type: "web_search_call" },
      { kind: "other", text: "3 vectors of 1,536 numbers" },
      { kind: "file" },
      { kind: "file", type: "document", text: "Terms" },
      { kind: "image", media: {} },
    ];
    expect(plainText({ index: 0, parts })).toBe(
      [
        "[image, png, 34 kB]",
        "[audio, wav]",
        "Hello.",
        "Look",
        "I cannot.",
        'f({"a":1})',
        "(no name)()",
        "[web search call]",
        "3 vectors of 1,536 numbers",
        "[file]",
        "[document]",
        "Terms",
        "[image]",
      ].join("\n"),
    );
    expect(plainText({ role: "user" })).toBe("");
  });

  it("has its role as title, or the type of the item", () => {
    expect(titleOf({ role: "user" })).toBe("user");
    expect(titleOf({ role: null, parts: [{ kind: "other", type: "web_search_call" }] })).toBe("web search call");
    expect(titleOf({ role: null })).toBe("message");
  });

  it("knows the result of a tool", () => {
    const result: Part = { kind: "tool_result", id: "c1", text: "21 °C" };
    expect(toolResultOf({ role: "tool", parts: [result, { kind: "image" }] })).toBe(result);
    expect(toolResultOf({ role: "assistant", parts: [{ kind: "tool_call" }, result] })).toBeUndefined();
    expect(toolResultOf({ role: "user" })).toBeUndefined();
  });

  it("joins adjacent texts of a model, because a sentence can be split to attach citations", () => {
    const parts: Part[] = [
      { kind: "text", text: "It is " },
      { kind: "text", text: "21 °C", other: { citations: [1], a: 1 } },
      { kind: "text", text: ".", other: { citations: [2] } },
      { kind: "tool_call", name: "f" },
      { kind: "text", text: "Next" },
    ];
    const joined = [
      { kind: "text", text: "It is 21 °C.", other: { citations: [1, 2], a: 1 } },
      { kind: "tool_call", name: "f" },
      { kind: "text", text: "Next" },
    ];
    expect(partsOf({ index: 0, parts })).toEqual(joined);
    expect(partsOf({ role: "assistant", parts })).toEqual(joined);
    expect(partsOf({ role: "user", parts })).toEqual(parts);
  });

  it("shows arguments that are not valid JSON unchanged", () => {
    expect(argumentsLine('{"city": "Rome", "days": [1, 2]}')).toBe('city: "Rome", days: [1,2]');
    expect(argumentsLine('{"city": "Ro')).toBe('{"city": "Ro');
    expect(argumentsLine("[1]")).toBe("[1]");
  });
});
