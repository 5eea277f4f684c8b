/** Check whether this browser is signed in with the session cookie, and sign out. */

import { type UseMutationResult, useMutation } from "@tanstack/react-query";
import type { Session } from "~/generated/api-types";
import { apiUrl, sendJson } from "./client";
import { useStatus } from "./status";

/** Whether signing out would end the access of this browser. False until the status is loaded. */
export function useSignedIn(): boolean {
  return useStatus((status) => status.signed_in) ?? false;
}

/** Sign out, then reload the page. The server then shows the sign-in form at the same address. */
export function useSignOut(reload = () => window.location.reload()): UseMutationResult<Session, Error, void> {
  return useMutation({ mutationFn: () => sendJson<Session>("DELETE", apiUrl("session")), onSuccess: reload });
}
