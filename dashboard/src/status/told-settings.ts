/** Settings as the status tells them. Pure. */

import type { Status } from "~/generated/api-types";

/** A setting that is a number; null where the server has none of that name. */
export function numberSetting(status: Status, name: string): number | null {
  const value = status.settings[name];
  return typeof value === "number" ? value : null;
}

/** A setting that is a text. */
export function textSetting(status: Status, name: string): string | null {
  const value = status.settings[name];
  return typeof value === "string" ? value : null;
}
