/** Which thread a request is read in. Pure. */

import { type Filter, isOnly, only, propertyOf } from "~/domain/filter";
import type { RequestDetail } from "~/generated/api-types";

/** That of the one property value the log is filtered by, where the request has it; else that of its namespace. */
export function threadOf(request: RequestDetail, filter: Filter): Filter {
  const [term, ...more] = filter;
  const named = term?.name.startsWith("property.") ? term.name.slice("property.".length) : undefined;
  const value = named === undefined ? undefined : propertyOf(request, named);
  const isIts = value !== undefined && more.length === 0 && isOnly(filter, `property.${named}`, value);
  return isIts ? filter : only([], "namespace", request.namespace);
}
