import { useId, useState } from "react";
import { settingWords } from "./setting-words";
import styles from "./status-panel.module.css";

/** The effective settings, searched by name and value. */
export function SettingsTable({ settings }: { settings: Readonly<Record<string, unknown>> }) {
  const [sought, setSought] = useState("");
  const heading = useId();
  const all = Object.entries(settings).map(([name, value]) => [name, settingWords(name, value)] as const);
  const wanted = sought.trim().toLowerCase();
  // --min-free, "min free" and min_free are one setting.
  const named = wanted.replace(/^-+/, "").replace(/[-\s]+/g, "_");
  const found = all.filter(([name, value]) => name.includes(named) || value.toLowerCase().includes(wanted));
  return (
    <section>
      <div className={styles.heading}>
        <h3 id={heading}>Settings</h3>
        <input
          type="search"
          className={styles.search}
          placeholder="search settings"
          aria-label="Search settings by name or value"
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
      </div>
      <table className={`${styles.table} ${styles.settings}`} aria-labelledby={heading}>
        <tbody>
          {found.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td className={styles.value}>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p role="status">{found.length === 0 && `No setting has “${sought.trim()}” in its name or value.`}</p>
      <p className={styles.about}>In effect now. Where each came from: relaybook config.</p>
    </section>
  );
}
