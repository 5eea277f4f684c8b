/** Entry point of the sign-in page: its form and the API calls. It does not use React. */

/** Handle submissions of the form. `open` is called when the browser is signed in. */
export function handleSignIn(form: HTMLFormElement, open: () => void): void {
  const input = part(form, "#token", HTMLInputElement);
  const button = part(form, "button", HTMLButtonElement);
  const problem = part(form, "#problem", HTMLElement);
  input.focus();

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    const error = await signIn(baseOf(form), input.value.trim());
    button.disabled = false;
    input.setAttribute("aria-invalid", String(error !== null));
    if (error === null) return open();
    problem.textContent = error;
    input.focus();
    input.select();
  });
}

/** The base path of the dashboard. The server writes it into the page. */
export function baseOf(form: HTMLFormElement): string {
  return form.dataset.base ?? "";
}

function part<T extends Element>(form: HTMLFormElement, selector: string, kind: new () => T): T {
  const element = form.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`sign-in.html has no ${selector}`);
  return element;
}

export const WRONG_TOKEN =
  "Wrong token. The token is the value of RELAYBOOK_DASHBOARD_TOKEN, or of dashboard_token in relaybook.toml, on the " +
  "machine where Relaybook was started.";
export const UNREACHABLE =
  "Relaybook does not respond. Check that it is running and that the network is up, then try again.";
export const NO_COOKIE =
  "The token is correct, but the browser did not store the session cookie. Allow cookies for this address. If " +
  "--dashboard-url is an https address, open the page with https.";

/**
 * Exchange the token for a session cookie. Returns an error message, or `null`. `base` is the base path of the
 * dashboard.
 */
export async function signIn(base: string, token: string): Promise<string | null> {
  const body = JSON.stringify({ token });
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${base}/api/session`, { method: "POST", headers, body }).catch(() => null);
  if (response === null) return UNREACHABLE;
  if (response.status === 401) return WRONG_TOKEN;
  if (!response.ok) return errorMessage(response);
  return (await isSignedIn(base)) ? null : NO_COOKIE;
}

/** Whether the browser has a valid session cookie. */
export async function isSignedIn(base: string): Promise<boolean> {
  const response = await fetch(`${base}/api/status`).catch(() => null);
  return response?.ok ?? false;
}

/** The error message of the server, if it sent one. */
async function errorMessage(response: Response): Promise<string> {
  const body = await response.json().catch(() => null);
  return body?.error?.message ?? `Signing in failed: ${response.status} ${response.statusText}`;
}

const open = () => window.location.reload();
const form = document.forms[0];

if (form) {
  handleSignIn(form, open);
  // Browsers do not send the cookie if the user follows a link from another site, but they send it if this page
  // reloads. The page reloads only once. After a reload, the form is shown.
  const [load] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (load?.type !== "reload" && (await isSignedIn(baseOf(form)))) open();
}
