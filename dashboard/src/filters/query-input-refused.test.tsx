import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef, useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { QueryError } from "~/api/requests";
import { renderAt } from "~/test/render";
import { QueryInput } from "./query-input";

const REFUSED = {
  text: "refund duration:fast",
  message: "q, 'duration:fast' at character 8: duration is 'fast': expected a bound with a unit.",
};

beforeEach(() => {
  vi.stubGlobal("fetch", async () =>
    Response.json({ data: [], running: [], next_cursor: null, newer_cursor: null, complete: true }),
  );
});

async function open(search: string, refused: QueryError) {
  let show = (_next: QueryError | undefined) => {};
  function Box() {
    const [inUrl, setInUrl] = useState<QueryError | undefined>(refused);
    show = (next) => act(() => setInUrl(next));
    return <QueryInput box={createRef()} refused={inUrl} />;
  }
  const page = await renderAt(search, <Box />);
  const box = await screen.findByRole("combobox", { name: "Filter the log" });
  return { ...page, box, show: (next?: QueryError) => show(next), user: userEvent.setup() };
}

describe("the query box, where the URL has a query that the API refuses", () => {
  it("has its text, to be mended, and says that the log is shown without it", async () => {
    const { box, user, where } = await open("?model=o1", REFUSED);
    expect(box).toHaveValue("refund duration:fast");
    expect(box).toHaveAccessibleDescription(
      /^'duration:fast': duration is 'fast': expected a bound with a unit. The log is shown without it.$/,
    );
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.type(box, "{Backspace>4/}>2s");
    expect(screen.queryByRole("alert")).toBeNull();
    await user.type(box, "{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?model=o1&q=refund+duration:%3E2s"));
    expect(box).toHaveValue("");
  });

  it("forgets it when it is emptied", async () => {
    const { box, user, where } = await open("?model=o1", REFUSED);
    await user.clear(box);
    expect(box).toHaveValue("");
    await user.type(box, "{Enter}");
    expect(where()).toBe("/requests?model=o1");
  });

  it("keeps what is typed there, until the URL has another", async () => {
    const { box, user, show } = await open("", REFUSED);
    await user.type(box, " late");
    show({ ...REFUSED });
    expect(box).toHaveValue("refund duration:fast late");
    show({ text: "foo:bar", message: "q, 'foo:bar' at character 1: There is no name 'foo'." });
    expect(box).toHaveValue("foo:bar");
    expect(screen.getByRole("alert")).toHaveTextContent("'foo:bar': There is no name 'foo'.");
    show(undefined);
    expect(box).toHaveValue("foo:bar");
    show(REFUSED);
    expect(box).toHaveValue("refund duration:fast");
  });
});
