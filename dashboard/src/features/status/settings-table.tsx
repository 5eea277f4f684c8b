/** The settings in effect, as text. */

import { Group, Table, TextInput } from "@mantine/core";
import { useId, useState } from "react";
import css from "./status-dialog.module.css";

/** The settings in effect, with a search by name and value. */
export function SettingsTable({ settings }: { settings: Readonly<Record<string, unknown>> }) {
  const [sought, setSought] = useState("");
  const heading = useId();
  const all = Object.entries(settings).map(([name, value]) => [name, settingText(name, value)] as const);
  const wanted = sought.trim().toLowerCase();
  // --min-free, "min free" and min_free are the same setting.
  const named = wanted.replace(/^-+/, "").replace(/[-\s]+/g, "_");
  const found = all.filter(([name, value]) => name.includes(named) || value.toLowerCase().includes(wanted));
  return (
    <section>
      <Group justify="space-between" gap="4px 16px">
        <h3 id={heading}>Settings</h3>
        <TextInput
          type="search"
          size="xs"
          placeholder="Search settings"
          aria-label="Search settings by name or value"
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
      </Group>
      <Table className={css.table} borderColor="var(--color-border)" layout="fixed" aria-labelledby={heading}>
        <Table.Tbody>
          {found.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">
                <code>{name}</code>
              </Table.Th>
              <Table.Td className="wrap-anywhere">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <p role="status">{found.length === 0 && `No settings match “${sought.trim()}”.`}</p>
      <p className="muted">
        These settings are in effect. <code>relaybook config</code> shows the source of each setting.
      </p>
    </section>
  );
}

/** Values in the format of `relaybook config`. Pure. */
const SIZES = /_bytes$|^(min_free|max_journal|keep_other_bodies|disk_budget)$/;
const DURATIONS = /_timeout$|^(upstream_idle|seal_after)$/;

/** `1 GiB`, `600 s`, `Service, Relaybook`, `dev-*: keep_days=7`, or `–` if the setting is not set. */
export function settingText(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(", ");
  if (typeof value === "number" && SIZES.test(name)) return size(value);
  if (typeof value === "number" && DURATIONS.test(name)) return `${value} s`;
  return typeof value === "object" ? tables(value) : String(value);
}

/** Named tables on one line: `dev-*: keep_days=7 log=no-bodies, demo: keep_days=1`. */
function tables(value: object): string {
  const each = Object.entries(value).map(([name, table]: [string, object]) => {
    const pairs = Object.entries(table).map(([key, item]) => `${key}=${item}`);
    return `${name}: ${pairs.join(" ")}`;
  });
  return each.join(", ") || "–";
}

function size(value: number): string {
  for (const [unit, name] of [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ] as const) {
    if (value >= unit && value % unit === 0) return `${value / unit} ${name}`;
  }
  return `${value} bytes`;
}
