/** Errors of API calls. */

import type { Problem } from "~/generated/api-types";

/** An error response of the API. `status` is 0 if the API could not be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(status: number, problem: Pick<Problem, "message" | "code" | "param" | "term">) {
    super(explainTerm(problem.term, problem.message));
    this.status = status;
    this.code = problem.code;
    this.param = problem.param;
  }
}

/** The error message of a query term: `'duration:fast': expected a comparison`. */
export function explainTerm(term: string | undefined, message: string): string {
  return term === undefined ? message : `'${term}': ${message}`;
}

/** Whether Relaybook could not be reached, because the connection failed or a proxy responded instead. */
export function isUnreachable(error: Error): boolean {
  return !(error instanceof ApiError) || error.status === 0 || (error.status >= 500 && error.code === "unknown");
}
