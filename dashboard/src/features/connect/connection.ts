/** What a client needs to connect: base URL, key, header prefix. */

import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import type { Status } from "~/generated/api-types";

export type Connection = {
  baseUrl: string;
  /** A key that is good enough, because the provider is simulated; nothing where the provider wants its own. */
  anyKey: string | null;
  /** First word of the headers that tag a request. */
  prefix: string;
  /** The namespace of a request that names none. */
  defaultNamespace: string;
  /** The provider's base URL; nothing where it is simulated. */
  provider: string | null;
};

export function connectionOf(status: Status): Connection {
  const isSimulated = status.sample_data;
  const { header_prefix: prefixes, default_namespace: namespace, upstream } = status.settings;
  return {
    baseUrl: status.relay_base_url,
    anyKey: isSimulated ? "any-key" : null,
    prefix: (Array.isArray(prefixes) ? textOf(prefixes[0]) : null) ?? "Service",
    defaultNamespace: textOf(namespace) ?? "default",
    provider: isSimulated ? null : textOf(upstream),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** What clients have to be told, from the status. Nothing until it is known. */
export function useConnection(): Connection | undefined {
  const { data: status } = useQuery(statusQuery());
  return status === undefined ? undefined : connectionOf(status);
}
