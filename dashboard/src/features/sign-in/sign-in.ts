/** Entry point of the sign-in page. It does not use React. */

import { attend, baseOf, isSignedIn } from "./sign-in-form";

const open = () => window.location.reload();
const form = document.forms[0];

if (form) {
  attend(form, open);
  // Browsers do not send the cookie when a link on another site leads here, but with a load of our own they do. Only
  // once: a load that is itself a repetition asks for the token.
  const [load] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (load?.type !== "reload" && (await isSignedIn(baseOf(form)))) open();
}
