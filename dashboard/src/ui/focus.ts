/** Keep the focus when a control disappears. */

/** Move the focus to the log, or to the page if it shows no log. Called by controls that disappear when they are used. */
export function focusPage(): void {
  const page = document.querySelector<HTMLElement>("[data-log]") ?? document.getElementById("content");
  page?.focus({ preventScroll: true });
}
