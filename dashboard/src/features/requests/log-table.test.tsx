import { cleanup, screen, waitFor } from "@testing-library/react";
import { createRef } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { A_ROUTE, ANTHROPIC_ROUTE, answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { LogTable } from "./log-table";

afterEach(() => vi.unstubAllGlobals());

const LIST = {
  key: "",
  search: EMPTY_SEARCH,
  rows: [],
  includesNewest: true,
  isLoading: false,
  isStopped: false,
  loadOlder: () => {},
  loadNewer: () => {},
};

it.each([
  ["no column for the only route", [A_ROUTE], 0],
  ["a column for the route if there are several", [A_ROUTE, ANTHROPIC_ROUTE], 1],
])("has %s", async (_, routes, columns) => {
  answerWith(statusWith({ routes }));
  await renderAt(
    "",
    <LogTable
      list={LIST}
      gaps={[]}
      anchor={undefined}
      selected={undefined}
      scroller={createRef()}
      onPointerInside={() => {}}
    />,
  );
  await waitFor(() => expect(screen.queryAllByRole("columnheader", { name: "Route" })).toHaveLength(columns));
});

it("the pointer is not inside a table that was removed", async () => {
  const onPointerInside = vi.fn();
  await renderAt(
    "",
    <LogTable
      list={LIST}
      gaps={[]}
      anchor={undefined}
      selected={undefined}
      scroller={createRef()}
      onPointerInside={onPointerInside}
    />,
  );
  cleanup();
  expect(onPointerInside).toHaveBeenCalledExactlyOnceWith(false);
});
