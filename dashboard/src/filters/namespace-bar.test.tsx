import { screen, within } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { answerThread, namespace } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { NamespaceBar } from "./namespace-bar";

afterEach(() => vi.unstubAllGlobals());

const LABELS = [namespace("production", { pinned: true, color: 1 }), namespace("staging", { pinned: true, color: 2 })];

it("a selected namespace that is not pinned comes first in the bar", async () => {
  answerThread({ namespaces: () => ({ data: LABELS, next_cursor: null }) });
  await renderAt("?namespace=user-42&namespace=staging", <NamespaceBar />);
  await screen.findByRole("link", { name: "Filter by namespace production" });
  const links = within(screen.getByRole("navigation", { name: "Namespaces" })).getAllByRole("link");
  expect(links.map((link) => link.dataset.value)).toEqual([undefined, "user-42", "production", "staging"]);
});
