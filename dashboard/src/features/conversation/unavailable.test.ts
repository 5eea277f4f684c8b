import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { explainMissingMessages } from "./unavailable";

it("says the exact size limit of a body", () => {
  const request = sampleRequest({ messages: null, stored_request_bytes: 71_000_000 });
  expect(explainMissingMessages(request)).toContain("71 MB, which is more than this page reads (64 MiB).");
});
