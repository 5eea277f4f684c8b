/** What clients have to be told, from the status. Nothing until it is known. */

import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import { type Connection, connectionOf } from "./connection";

export function useConnection(): Connection | undefined {
  const { data: status } = useQuery(statusQuery());
  return status === undefined ? undefined : connectionOf(status);
}
