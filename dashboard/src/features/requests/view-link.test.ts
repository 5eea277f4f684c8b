import { expect, it } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { viewLink } from "./view-link";

const NOW = new Date("2026-11-30T12:00:00Z");

it("a link to a view has filters, columns, order and absolute times", () => {
  const search = parseSearch("?namespace=staging&from=-1h&sort=tokens_per_second&order=asc&live=off");
  expect(viewLink(search, ["model", "tokens_per_second", "result"], undefined, NOW)).toBe(
    "http://localhost:3000/requests?namespace=staging&from=2026-11-30T11:00:00.000Z&to=2026-11-30T12:00:00.000Z" +
      "&sort=tokens_per_second&order=asc&columns=model,tokens_per_second,result",
  );
});

it("a link to a view keeps the open request", () => {
  expect(viewLink(parseSearch(""), ["result"], "0199", NOW)).toMatch(/\/requests\/0199\?to=.*&columns=result$/);
});
