/** The data that a client needs to connect: base URL, key and header prefix. */

import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import type { Status } from "~/generated/api-types";

export type Connection = {
  baseUrl: string;
  /** A key that the simulated upstream accepts. `null` for a real upstream. */
  anyKey: string | null;
  /** Prefix of the headers that tag a request. */
  prefix: string;
  /** The namespace of requests without a namespace header. */
  defaultNamespace: string;
  /** The base URL of the upstream. `null` if it is simulated. */
  upstream: string | null;
};

export function connectionOf(status: Status): Connection {
  const isSimulated = status.sample_data;
  const { header_prefix: prefixes, default_namespace: namespace, upstream } = status.settings;
  return {
    baseUrl: status.relay_base_url,
    anyKey: isSimulated ? "any-key" : null,
    prefix: (Array.isArray(prefixes) ? textOf(prefixes[0]) : null) ?? "Service",
    defaultNamespace: textOf(namespace) ?? "default",
    upstream: isSimulated ? null : textOf(upstream),
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
