import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { explainMissingConversation, explainMissingMessages } from "./unavailable";

it("says the exact size limit of a body", () => {
  const request = sampleRequest({ messages: null, stored_request_bytes: 71_000_000 });
  expect(explainMissingMessages(request)).toContain("71 MB, which is more than this page reads (64 MiB).");
});

it("says that an API has no conversation if its bodies are not read", () => {
  expect(explainMissingConversation(sampleRequest({ kind: "models", method: "GET", path: "/v1/models" }))).toBe(
    "There is no conversation, because GET /v1/models has no messages that Relaybook can read. See Raw for the bodies.",
  );
  expect(explainMissingConversation(sampleRequest({ kind: "embedding" }))).toBeUndefined();
});
