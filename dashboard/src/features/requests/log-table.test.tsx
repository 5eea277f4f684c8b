import { cleanup } from "@testing-library/react";
import { createRef } from "react";
import { expect, it, vi } from "vitest";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { renderAt } from "~/test/render";
import { LogTable } from "./log-table";

it("the pointer is not inside a table that was removed", async () => {
  const onPointerInside = vi.fn();
  const list = {
    key: "",
    search: EMPTY_SEARCH,
    rows: [],
    includesNewest: true,
    isLoading: false,
    isStopped: false,
    loadOlder: () => {},
    loadNewer: () => {},
  };
  await renderAt(
    "",
    <LogTable
      list={list}
      gaps={[]}
      property={undefined}
      anchor={undefined}
      selected={undefined}
      scroller={createRef()}
      onPointerInside={onPointerInside}
    />,
  );
  cleanup();
  expect(onPointerInside).toHaveBeenCalledExactlyOnceWith(false);
});
