import { act, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { ChoiceView } from "./choice";

vi.mock("./markdown", () => {
  throw new Error("The file is missing.");
});

it("shows the response as text if the code for Markdown cannot be loaded", async () => {
  const choice = { text: "**sent**", reasoning: undefined, refusal: undefined, calls: [], finishReason: undefined };
  await renderAt("", <ChoiceView choice={choice} isRendered isGrowing={false} />);
  expect(await screen.findByText("**sent**")).toBeVisible();
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText("**sent**")).toBeVisible();
});
