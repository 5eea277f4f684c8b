import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef, useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { QueryError } from "~/api/requests";
import type { ParsedQuery, Suggestion } from "~/generated/api-types";
import { renderAt } from "~/test/render";
import { FilterLink } from "./filter-link";
import { QueryInput } from "./query-input";

const item = (insert: string, label = insert.trim(), requests: number | null = null): Suggestion => ({
  insert,
  label,
  hint: requests === null ? "a hint" : null,
  requests,
  is_filter: false,
});
const suggest = (start: number, end: number, ...items: Suggestion[]) => ({ suggestions: { start, end, items } });
const NAMES = [item("namespace:"), item("model:"), item("duration:")];

/** Responses by query. Any other query is one word of a text search, without suggestions. */
const PARSED: Record<string, Partial<ParsedQuery>> = {
  "": { params: [], ...suggest(0, 0, ...NAMES) },
  "refund namespace:staging": {
    params: [
      ["words", "refund"],
      ["namespace", "staging"],
    ],
  },
  "refund -namesp": suggest(7, 14, item("-namespace:")),
  "refund -namespace:": suggest(
    7,
    18,
    item("-namespace:production ", "production", 12_400),
    item('-namespace:"my channel" ', "my channel", 3),
  ),
  'refund -namespace:"my channel" ': {
    params: [
      ["words", "refund"],
      ["not.namespace", "my channel"],
    ],
    ...suggest(31, 31, ...NAMES),
  },
  'model:o1 "In three to" ': {
    params: [
      ["model", "o1"],
      ["words", "In three to"],
    ],
  },
  "my dur": suggest(3, 6, item("duration:")),
  dur: suggest(0, 3, item("duration:")),
  "duration:5": suggest(0, 10, item("duration:>5s ", ">5s"), item("duration:>5m ", ">5m")),
  "duration:>5s ": suggest(13, 13, ...NAMES),
  "namespace:prod": {
    params: [["namespace", "prod"]],
    ...suggest(0, 14, item("namespace:production ", "production", 12_400)),
  },
  "status:4": suggest(0, 8, item("status:429 ", "429")),
  "status:429 mod": suggest(11, 14, item("model:")),
  "chatcmpl-9xYz": { request_id: "chatcmpl-9xYz" },
  "refund duration:fast": {
    params: [],
    error: { start: 7, end: 20, code: "bad_value", message: "expected a comparison with a unit.", replacement: null },
  },
  "modell:o1": {
    params: [],
    error: { start: 0, end: 9, code: "unknown_name", message: "not a known name.", replacement: "model:o1" },
  },
};

function parse(text: string): ParsedQuery {
  const word = { params: [["words", text.trim()]] as [string, string][], request_id: null, tokens: [], error: null };
  return { ...word, ...suggest(0, 0), ...PARSED[text] };
}

/** An API that parses these queries, and rejects a filter by one word. */
function answer(address: string): Response {
  const url = new URL(address, "http://relaybook.test");
  if (url.pathname === "/api/query") return Response.json(parse(url.searchParams.get("q") ?? ""));
  if (url.searchParams.get("said_here") === "rejected") {
    const error = { message: "contains needs from.", type: "invalid_request_error", param: "contains", code: "x" };
    return Response.json({ error }, { status: 400 });
  }
  return Response.json({ data: [], running: [], next_cursor: null, newer_cursor: null, complete: true });
}

beforeEach(() => {
  vi.stubGlobal("fetch", async (address: string) => answer(address));
});

async function open(search = "", refused?: QueryError) {
  let show = (_next: QueryError | undefined) => {};
  function Box() {
    const [inUrl, setInUrl] = useState(refused);
    show = (next) => act(() => setInUrl(next));
    return <QueryInput box={createRef()} refused={inUrl} />;
  }
  const page = await renderAt(
    search,
    <>
      <Box />
      <FilterLink name="namespace" value="staging">
        staging
      </FilterLink>
    </>,
  );
  const box = await screen.findByRole("combobox", { name: "Filter the log" });
  return { ...page, box, show: (next?: QueryError) => show(next), user: userEvent.setup() };
}

describe("the query input", () => {
  it("adds the parameters of the query to the filter and clears its text", async () => {
    const { box, user, where } = await open("?model=o1");
    await user.type(box, "refund namespace:staging{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?model=o1&said_here=refund&namespace=staging"));
    expect(box).toHaveValue("");
  });

  it("opens the request whose id is entered", async () => {
    const { box, user, where } = await open("?model=o1");
    await user.type(box, "chatcmpl-9xYz{Enter}");
    await waitFor(() => expect(where()).toBe("/requests/chatcmpl-9xYz?model=o1"));
  });

  it("shows the error of an invalid query, does not navigate, and keeps the text", async () => {
    const { box, user, where } = await open("?model=o1");
    await user.type(box, "refund duration:fast{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent(/^'duration:fast': expected a comparison with a unit.$/);
    expect(box).toHaveAccessibleDescription(/expected a comparison/);
    expect(box).toHaveAttribute("aria-invalid", "true");
    expect(where()).toBe("/requests?model=o1");
    expect(box).toHaveValue("refund duration:fast");
    await user.type(box, "{Backspace}");
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("shows why the log rejects the filter", async () => {
    const { box, user, where } = await open();
    await user.type(box, "rejected{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent(/^contains needs from.$/);
    expect(where()).toBe("/requests");
  });

  it("offers the corrected query", async () => {
    const { box, user } = await open();
    await user.type(box, "modell:o1{Enter}");
    await user.click(await screen.findByRole("button", { name: "model:o1" }));
    expect(box).toHaveValue("model:o1");
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("shows an error if the API cannot be reached", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("no network");
    });
    const { box, user } = await open();
    await user.type(box, "refund{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent("Relaybook does not respond");
    expect(box).toHaveValue("refund");
  });

  it("applies the latest query if it was submitted again, and ignores the response to the earlier one", async () => {
    const waiting: (() => void)[] = [];
    const answers: Response[] = [];
    vi.stubGlobal("fetch", async (address: string) => {
      if (!address.includes("/api/requests?")) return answer(address);
      await new Promise<void>((resolve) => waiting.push(resolve));
      const response = answer(address);
      answers.push(response);
      return response;
    });
    const { box, user, where } = await open();
    await user.type(box, "tea{Enter}");
    await waitFor(() => expect(waiting).toHaveLength(1));
    await user.type(box, "-pot{Enter}");
    await waitFor(() => expect(waiting).toHaveLength(2));
    waiting[0]?.();
    await waitFor(() => expect(answers[0]?.bodyUsed).toBe(true));
    expect(box).toHaveValue("tea-pot");
    expect(where()).toBe("/requests");
    waiting[1]?.();
    await waitFor(() => expect(where()).toBe("/requests?said_here=tea-pot"));
    expect(box).toHaveValue("");
  });

  it("does not navigate if the user navigated during the API call", async () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    vi.stubGlobal("fetch", (address: string) => held.then(() => answer(address)));
    const { box, user, where } = await open();
    await user.type(box, "refund{Enter}");
    await user.click(screen.getByRole("link", { name: "Filter by namespace staging" }));
    letGo();
    await waitFor(() => expect(box).toHaveAttribute("aria-busy", "false"));
    expect(where()).toBe("/requests?namespace=staging");
    expect(box).toHaveValue("refund");
  });

  it("suggests names, then values with their number of requests; arrows and Enter insert them", async () => {
    const { box, user, where } = await open();
    await user.type(box, "refund -namesp");
    expect(await screen.findByRole("option", { name: /^-namespace: a hint/ })).toBeVisible();
    expect(box).toHaveAttribute("aria-expanded", "true");
    await user.keyboard("{ArrowDown}");
    expect(screen.getByRole("option", { selected: true }).id).toBe(box.getAttribute("aria-activedescendant"));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(box).toHaveValue("refund -namespace:"));
    expect(await screen.findByRole("option", { name: /^production/ })).toHaveTextContent("production 12,400 requests");
    await user.keyboard("{ArrowUp}{Enter}");
    await waitFor(() => expect(box).toHaveValue('refund -namespace:"my channel" '));
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?said_here=refund&not.namespace=my+channel"));
  });

  it("inserts the first suggestion with Tab, which moves on if nothing is typed", async () => {
    const { box, user } = await open();
    await user.type(box, "dur");
    await user.tab();
    await waitFor(() => expect(box).toHaveValue("duration:"));
    await user.keyboard("5");
    await user.tab();
    await waitFor(() => expect(box).toHaveValue("duration:>5s "));
    expect(box).toHaveFocus();
    await user.click(box);
    expect(await screen.findByRole("listbox")).toBeVisible();
    await user.tab();
    expect(box).not.toHaveFocus();
    expect(box).toHaveValue("duration:>5s ");
  });

  it("applies the typed text with Enter, regardless of suggestions", async () => {
    const { box, user, where } = await open();
    await user.type(box, "namespace:prod");
    await screen.findByRole("option", { name: /production/ });
    await user.keyboard("{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?namespace=prod"));
  });

  it("inserts a suggestion by mouse and keeps the focus; Escape closes the list, then leaves the input", async () => {
    const { box, user } = await open();
    await user.type(box, "status:4");
    await user.click(await screen.findByRole("option", { name: /^429/ }));
    await waitFor(() => expect(box).toHaveValue("status:429 "));
    expect(box).toHaveFocus();
    await user.type(box, "mod");
    await screen.findByRole("option", { name: /^model:/ });
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(box).toHaveFocus();
    await user.keyboard("{Escape}");
    expect(box).not.toHaveFocus();
  });

  it("offers several words as one phrase first, and says how words match otherwise", async () => {
    const { box, user, where } = await open();
    await user.type(box, "model:o1 In three to");
    const phrase = await screen.findByRole("option", { name: '"In three to" as one phrase' });
    expect(screen.getAllByRole("option")[0]).toBe(phrase);
    expect(screen.getByText("Without quotes, each word matches anywhere.")).toBeVisible();
    await user.keyboard("{ArrowDown}{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?model=o1&said_here=In+three+to"));
    expect(box).toHaveValue("");
  });

  it("completes the last word with Tab, and several words to a phrase if there is no completion", async () => {
    const { box, user } = await open();
    await user.type(box, "my dur");
    await user.tab();
    await waitFor(() => expect(box).toHaveValue("my duration:"));
    await user.clear(box);
    await user.type(box, "in three");
    await user.tab();
    await waitFor(() => expect(box).toHaveValue('"in three" '));
  });

  it.each(["refund", "refund -late", 'refund "late', "refund model:o1", "refund late*", "refund late model:"])(
    "offers no phrase for %s",
    async (text) => {
      const { box, user } = await open();
      await user.type(box, text);
      expect(screen.queryByRole("option", { name: /as one phrase/ })).toBeNull();
    },
  );

  it("clears a text that was not submitted with the second Escape", async () => {
    const { box, user, where } = await open("?model=o1");
    await user.type(box, "dur");
    await screen.findByRole("option", { name: /^duration:/ });
    await user.keyboard("{Escape}");
    expect(box).toHaveValue("dur");
    await user.keyboard("{Escape}");
    expect(box).toHaveValue("");
    expect(where()).toBe("/requests?model=o1");
  });

  it("removes the last value of the filter with Backspace while it is empty", async () => {
    const { box, user, where } = await open("?namespace=staging&duration=%3E2s");
    await user.type(box, "x{Backspace}");
    expect(where()).toBe("/requests?namespace=staging&duration=%3E2s");
    await user.type(box, "{Backspace}");
    expect(where()).toBe("/requests?namespace=staging");
  });
});

const REFUSED = { text: "refund duration:fast", message: "'duration:fast': expected a comparison with a unit." };

describe("the query input with an invalid query in the URL", () => {
  it("contains the query and says that the log is shown without the query", async () => {
    const { box, user, where } = await open("?model=o1", REFUSED);
    expect(box).toHaveValue("refund duration:fast");
    expect(box).toHaveAccessibleDescription(
      /^'duration:fast': expected a comparison with a unit. The log is shown without this query.$/,
    );
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.clear(box);
    await user.type(box, "late");
    expect(screen.queryByRole("alert")).toBeNull();
    await user.type(box, "{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?model=o1&said_here=late"));
    expect(box).toHaveValue("");
  });

  it("removes the query from the URL when the text is removed", async () => {
    const { box, user, where } = await open("?model=o1", REFUSED);
    await user.clear(box);
    await user.type(box, "{Enter}");
    expect(where()).toBe("/requests?model=o1");
  });

  it("keeps the typed text until the URL has another invalid query", async () => {
    const { box, user, show } = await open("", REFUSED);
    await user.type(box, " late");
    show({ ...REFUSED });
    expect(box).toHaveValue("refund duration:fast late");
    show({ text: "foo:bar", message: "'foo:bar': 'foo' is not a known name." });
    expect(box).toHaveValue("foo:bar");
    expect(screen.getByRole("alert")).toHaveTextContent("'foo:bar': 'foo' is not a known name.");
    show(undefined);
    expect(box).toHaveValue("foo:bar");
    show(REFUSED);
    expect(box).toHaveValue("refund duration:fast");
  });
});
