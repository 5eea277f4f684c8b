/** Names and values in a wrapped list. */

import { Group } from "@mantine/core";
import type { ReactNode } from "react";

/** A `value` of `null` is unknown and shown as a dash. */
export type Fact = { name: string; value: ReactNode; title?: string | undefined };

/** Names and values side by side, wrapped to as many lines as needed. */
export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <Group component="dl" gap="2px 18px" align="stretch">
      {facts.map(({ name, value, title }) => (
        <Group key={name} gap={6} wrap="nowrap" align="stretch" mih={22} title={title}>
          <dt className="muted nowrap">{name}</dt>
          <dd className={value === null ? "muted" : "wrap-anywhere"}>{value ?? "–"}</dd>
        </Group>
      ))}
    </Group>
  );
}
