/** The settings in effect, as text. */

import { useId, useState } from "react";
import css from "./status-dialog.module.css";

/** The effective settings, searched by name and value. */
export function SettingsTable({ settings }: { settings: Readonly<Record<string, unknown>> }) {
  const [sought, setSought] = useState("");
  const heading = useId();
  const all = Object.entries(settings).map(([name, value]) => [name, settingText(name, value)] as const);
  const wanted = sought.trim().toLowerCase();
  // --min-free, "min free" and min_free are one setting.
  const named = wanted.replace(/^-+/, "").replace(/[-\s]+/g, "_");
  const found = all.filter(([name, value]) => name.includes(named) || value.toLowerCase().includes(wanted));
  return (
    <section>
      <div className={css.heading}>
        <h3 id={heading}>Settings</h3>
        <input
          type="search"
          className={css.search}
          placeholder="search settings"
          aria-label="Search settings by name or value"
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
      </div>
      <table className={`${css.table} ${css.settings}`} aria-labelledby={heading}>
        <tbody>
          {found.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td className={css.value}>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p role="status">{found.length === 0 && `No setting has “${sought.trim()}” in its name or value.`}</p>
      <p className={css.about}>In effect now. Where each came from: relaybook config.</p>
    </section>
  );
}

/** Settings as people write them, like `relaybook config` does. Pure. */
const SIZES = /_bytes$|^(min_free|max_journal|keep_other_bodies|disk_budget)$/;
const DURATIONS = /_timeout$|^upstream_idle$/;

/** `1 GiB`, `600 s`, `Service, Relaybook`; nothing set is `–`. */
export function settingText(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(", ");
  if (typeof value === "number" && SIZES.test(name)) return size(value);
  if (typeof value === "number" && DURATIONS.test(name)) return `${value} s`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
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
