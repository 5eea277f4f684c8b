/** The sign-in form and its API call. */

/** Makes the form work. `open` is called once the browser is signed in. */
export function attend(form: HTMLFormElement, open: () => void): void {
  const input = part(form, "#token", HTMLInputElement);
  const button = part(form, "button", HTMLButtonElement);
  const problem = part(form, "#problem", HTMLElement);
  input.focus();

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    const said = await signIn(baseOf(form), input.value.trim());
    button.disabled = false;
    input.setAttribute("aria-invalid", String(said !== null));
    if (said === null) return open();
    problem.textContent = said;
    input.focus();
    input.select();
  });
}

/** The sub-path the dashboard lies under; the server writes it into the page. */
export function baseOf(form: HTMLFormElement): string {
  return form.dataset.base ?? "";
}

function part<T extends Element>(form: HTMLFormElement, selector: string, kind: new () => T): T {
  const found = form.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`sign-in.html has no ${selector}`);
  return found;
}

/** Signs this browser in, and tells whether it is. */
export const WRONG_TOKEN =
  "This is not the token of this dashboard. It is the value of RELAYBOOK_DASHBOARD_TOKEN, or of dashboard_token in " +
  "relaybook.toml, where Relaybook was started.";
export const UNREACHABLE = "Relaybook does not answer. See that it runs and that the network is up, and try again.";
export const NO_COOKIE =
  "The token is right, but the browser did not keep the cookie that stands for it. Allow cookies for this address, and " +
  "open it by https if --dashboard-url says https.";

/** Exchanges the token for a cookie; what went wrong, or null. `base` is the sub-path the dashboard lies under. */
export async function signIn(base: string, token: string): Promise<string | null> {
  const body = JSON.stringify({ token });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${base}/api/session`, { method: "POST", headers, body }).catch(() => null);
  if (answer === null) return UNREACHABLE;
  if (answer.status === 401) return WRONG_TOKEN;
  if (!answer.ok) return refusal(answer);
  return (await isSignedIn(base)) ? null : NO_COOKIE;
}

/** Whether the browser has a cookie that counts. */
export async function isSignedIn(base: string): Promise<boolean> {
  const answer = await fetch(`${base}/api/status`).catch(() => null);
  return answer?.ok ?? false;
}

/** The server's own words where it has some. */
async function refusal(answer: Response): Promise<string> {
  const told = await answer.json().catch(() => null);
  return told?.error?.message ?? `Relaybook refused, without a reason: ${answer.status} ${answer.statusText}`;
}
