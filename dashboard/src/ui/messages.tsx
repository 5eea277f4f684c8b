/** Text shared by messages. */

import { isUnreachable } from "~/domain/api-error";

/** Below an error of the page's reading: what it means for the log itself, as far as anybody knows. */
export function StillLogged({ error }: { error: Error }) {
  return <p>{isUnreachable(error) ? "The page asks again by itself." : "Requests are still being logged."}</p>;
}
