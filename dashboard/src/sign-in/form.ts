/** The form that asks for the token: sends it, says what went wrong. */

import { signIn } from "./session";

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
