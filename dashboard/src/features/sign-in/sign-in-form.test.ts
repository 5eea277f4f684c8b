import { afterEach, expect, test, vi } from "vitest";
import page from "../../../sign-in.html?raw";
import { attend, isSignedIn, NO_COOKIE, UNREACHABLE, WRONG_TOKEN } from "./sign-in-form";

afterEach(() => vi.unstubAllGlobals());

function shown(base = "/logs") {
  document.body.innerHTML = page.slice(page.indexOf("<main>"), page.indexOf("</body>")).replace("__BASE__", base);
  const [form] = document.forms;
  const input = document.querySelector<HTMLInputElement>("#token");
  if (!form || !input) throw new Error("the page has no form");
  const open = vi.fn();
  attend(form, open);
  return { form, input, open, problem: document.querySelector("#problem") };
}

/** Answers call after call with these, in order; null: the network is down. */
function answering(...answers: (Response | null)[]) {
  const fetch = vi.fn((_url: string, _init?: RequestInit) => {
    const answer = answers.shift() ?? null;
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError("Failed to fetch"));
  });
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

function submit(form: HTMLFormElement, input: HTMLInputElement, token: string) {
  input.value = token;
  form.requestSubmit();
}

test("the right token opens the address that was wanted", async () => {
  const fetch = answering(Response.json({ expires_at: "2026-12-31T00:00:00Z" }), Response.json({}));
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
  ["a cookie that was not kept", [Response.json({}), Response.json({}, { status: 401 })], NO_COOKIE],
  ["a refusal", [Response.json({ error: { message: "Another origin." } }, { status: 403 })], "Another origin."],
  ["a proxy's refusal", [new Response("<html>", { status: 502, statusText: "Bad Gateway" })], /502 Bad Gateway/],
])("%s is said beside the field, which is ready for the next try", async (_, answers, said) => {
  answering(...answers);
  const { form, input, open, problem } = shown("");
  submit(form, input, "hunter1");
  await vi.waitFor(() => expect(problem).toHaveTextContent(said));
  expect(input).toHaveAccessibleName("Dashboard token");
  expect(input).toHaveAccessibleDescription(said);
  expect(input).toBeInvalid();
  expect(input).toHaveFocus();
  expect(document.querySelector("button")).toBeEnabled();
  expect(open).not.toHaveBeenCalled();
});

test("the next try takes back what was said", async () => {
  answering(Response.json({}, { status: 401 }));
  const { form, input, problem } = shown();
  submit(form, input, "hunter1");
  await vi.waitFor(() => expect(problem).toHaveTextContent(WRONG_TOKEN));
  answering(Response.json({}), Response.json({}));
  submit(form, input, "hunter2");
  expect(problem).toBeEmptyDOMElement();
});

test("a browser whose cookie counts is signed in, others are not", async () => {
  answering(Response.json({}), Response.json({}, { status: 401 }), null);
  expect([await isSignedIn(""), await isSignedIn(""), await isSignedIn("")]).toEqual([true, false, false]);
});
