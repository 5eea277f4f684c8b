import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { explainMissingMessages } from "./unavailable";

it("says the exact size limit of a body", () => {
  const request = sampleRequest({ messages: null, stored_request_bytes: 20_000_000 });
  expect(explainMissingMessages(request)).toContain("20 MB, which is more than this page reads (16 MiB).");
});
