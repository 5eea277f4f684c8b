import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PAGE } from "~/api/page-config";
import { answerThread, stubBrowser } from "~/test/fake-api";
import { statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { USUAL_VIEW, useChosenColumns } from "./columns";

beforeEach(() => {
  stubBrowser();
  window.localStorage.clear();
});

afterEach(() => {
  PAGE.base = "";
});

function Columns() {
  const { chosen, setView } = useChosenColumns();
  return (
    <>
      <p>{chosen.join(" ")}</p>
      <button type="button" onClick={() => setView(USUAL_VIEW)}>
        Reset
      </button>
    </>
  );
}

async function show(...properties: string[]) {
  const data = properties.map((value, at) => ({ value, requests: 9 - at, failed: 0, last_at: null }));
  const values = () => ({ data, next_cursor: null, complete: true });
  const base = PAGE.base;
  answerThread({ [`${base}values/property`]: values, [`${base}status`]: () => statusWith({}) });
  const { client } = await renderAt("", <Columns />);
  await waitFor(() => expect(client.isFetching()).toBe(0));
}

it("the property with a column is chosen once, and only Reset chooses again", async () => {
  await show("channel", "tool");
  expect(screen.getByText(/property\.channel/)).toBeVisible();
  cleanup();
  await show("tool", "channel");
  expect(screen.getByText(/property\.channel/)).toBeVisible();
  screen.getByRole("button", { name: "Reset" }).click();
  expect(await screen.findByText(/property\.tool/)).toBeVisible();
});

it("each log of a server with several logs has its own", async () => {
  await show("channel");
  cleanup();
  PAGE.base = "/other";
  await show("tool");
  expect(screen.getByText(/property\.tool/)).toBeVisible();
});
