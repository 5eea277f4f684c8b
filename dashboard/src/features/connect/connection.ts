/** The data that a client needs to connect: the routes with their base URLs, the key, and the header prefix. */

import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import type { RouteRow, Status } from "~/generated/api-types";

export type Connection = {
  /** All routes. The first is the route of the setting `upstream`. */
  routes: readonly RouteRow[];
  /** The URL of the relay without the path of a route. */
  root: string;
  /** A key that the simulated upstream accepts. `null` for a real upstream. */
  anyKey: string | null;
  /** Prefix of the headers that tag a request. */
  prefix: string;
  /** The namespace of requests without a namespace header. */
  defaultNamespace: string;
};

export function connectionOf(status: Status): Connection {
  const { header_prefix: prefixes, default_namespace: namespace } = status.settings;
  return {
    routes: status.routes,
    root: status.relay_base_url.replace(/\/(v1\/?)?$/, ""),
    anyKey: status.sample_data ? "any-key" : null,
    prefix: (Array.isArray(prefixes) ? textOf(prefixes[0]) : null) ?? "Service",
    defaultNamespace: textOf(namespace) ?? "default",
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The connection from the status. `undefined` while it is loading. */
export function useConnection(): Connection | undefined {
  const { data: status } = useQuery(statusQuery());
  return status === undefined ? undefined : connectionOf(status);
}
