/** Entry point of the sign-in page. It does not use React. */

import { baseOf, handleSignIn, isSignedIn } from "./sign-in-form";

const open = () => window.location.reload();
const form = document.forms[0];

if (form) {
  handleSignIn(form, open);
  // Browsers do not send the cookie if a link on another site leads here, but they do if this page reloads. It reloads
  // only once: after a reload, the form is shown.
  const [load] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (load?.type !== "reload" && (await isSignedIn(baseOf(form)))) open();
}
