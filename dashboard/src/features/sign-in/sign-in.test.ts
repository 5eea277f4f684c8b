import { afterEach, expect, test, vi } from "vitest";
import page from "../../../sign-in.html?raw";
import { handleSignIn, isSignedIn, NO_COOKIE, UNREACHABLE, WRONG_TOKEN } from "./sign-in";

afterEach(() => vi.unstubAllGlobals());

function shown(base = "/logs") {
  document.body.innerHTML = page.slice(page.indexOf("<main>"), page.indexOf("</body>")).replace("__BASE__", base);
  const [form] = document.forms;
  const input = document.querySelector<HTMLInputElement>("#token");
  if (!form || !input) throw new Error("the page has no form");
  const open = vi.fn();
  handleSignIn(form, open);
  return { form, input, open, problem: document.querySelector("#problem") };
}

/** Fake the API with these responses, in order. `null` means that the network is down. */
function fakeResponses(...responses: (Response | null)[]) {
  const fetch = vi.fn((_url: string, _init?: RequestInit) => {
    const response = responses.shift() ?? null;
    return response ? Promise.resolve(response) : Promise.reject(new TypeError("Failed to fetch"));
  });
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

function submit(form: HTMLFormElement, input: HTMLInputElement, token: string) {
  input.value = token;
  form.requestSubmit();
}

test("the right token opens the requested address", async () => {
  const fetch = fakeResponses(Response.json({ expires_at: "2026-12-31T00:00:00Z" }), Response.json({}));
  const { form, input, open, problem } = shown();
  submit(form, input, " hunter2\n");
  await vi.waitFor(() => expect(open).toHaveBeenCalledOnce());
  expect(fetch.mock.calls.map(([url]) => url)).toEqual(["/logs/api/session", "/logs/api/status"]);
  expect(fetch.mock.calls[0]?.[1]).toMatchObject({ method: "POST", body: '{"token":"hunter2"}' });
  expect(problem).toBeEmptyDOMElement();
});

test.each([
  ["a wrong token", [Response.json({}, { status: 401 })], WRONG_TOKEN],
  ["no network", [null], UNREACHABLE],
  ["a cookie that was not stored", [Response.json({}), Response.json({}, { status: 401 })], NO_COOKIE],
  ["an error response", [Response.json({ error: { message: "Another origin." } }, { status: 403 })], "Another origin."],
  [
    "an error response of a proxy",
    [new Response("<html>", { status: 502, statusText: "Bad Gateway" })],
    /502 Bad Gateway/,
  ],
])("%s is reported beside the input, which is ready for the next attempt", async (_, responses, message) => {
  fakeResponses(...responses);
  const { form, input, open, problem } = shown("");
  submit(form, input, "hunter1");
  await vi.waitFor(() => expect(problem).toHaveTextContent(message));
  expect(input).toHaveAccessibleName("Dashboard token");
  expect(input).toHaveAccessibleDescription(message);
  expect(input).toBeInvalid();
  expect(input).toHaveFocus();
  expect(document.querySelector("button")).toBeEnabled();
  expect(open).not.toHaveBeenCalled();
});

test("the next attempt removes the error message", async () => {
  fakeResponses(Response.json({}, { status: 401 }));
  const { form, input, problem } = shown();
  submit(form, input, "hunter1");
  await vi.waitFor(() => expect(problem).toHaveTextContent(WRONG_TOKEN));
  fakeResponses(Response.json({}), Response.json({}));
  submit(form, input, "hunter2");
  expect(problem).toBeEmptyDOMElement();
});

test("a browser is signed in only if its cookie is valid", async () => {
  fakeResponses(Response.json({}), Response.json({}, { status: 401 }), null);
  expect([await isSignedIn(""), await isSignedIn(""), await isSignedIn("")]).toEqual([true, false, false]);
});
