/** Notes for the whole page: sample data, and a new version of the page. */

import { CloseButton } from "@mantine/core";
import { useState } from "react";
import { PAGE } from "~/api/page-config";
import { useStatus } from "~/api/status";
import css from "./status-bar.module.css";

const NAME = "sample-data";

/** Says that the log contains sample data. It can be hidden for this tab. */
export function SampleNote() {
  const isSample = useStatus((status) => status.sample_data);
  const [isAway, setAway] = useState(() => isHidden(NAME));
  if (isAway || !isSample) return null;

  const putAway = () => {
    hide(NAME);
    setAway(true);
  };

  return (
    <section
      className={css.sample}
      aria-label="Sample data"
      title="The requests are sample data. Send your own to the base URL."
    >
      <strong>Sample data</strong> <span className={css.source}>from a simulated provider</span>
      <CloseButton size="sm" aria-label="Hide the note on sample data" onClick={putAway} />
    </section>
  );
}

type Props = { reload?: () => void };

/** Shown in an open tab when the server has a newer build of the page. */
export function VersionNotice({ reload = () => window.location.reload() }: Props) {
  const served = useStatus((status) => status.page_build) ?? "";
  const isOld = served !== "" && PAGE.build !== "" && served !== PAGE.build;
  return (
    <div role="status">
      {isOld && (
        <div className={css.bar}>
          <p>Relaybook was updated. Reload to use the new page.</p>
          <button type="button" className={css.barAction} onClick={reload}>
            Reload
          </button>
        </div>
      )}
    </div>
  );
}

/** Notes that were hidden, for as long as the tab is open. */
const key = (name: string) => `relaybook.hidden.${name}`;

/** `false` if the browser stores nothing for this page. */
export function isHidden(name: string): boolean {
  try {
    return sessionStorage.getItem(key(name)) !== null;
  } catch {
    return false;
  }
}

export function hide(name: string): void {
  try {
    sessionStorage.setItem(key(name), "1");
  } catch {
    // The note is back after a reload.
  }
}
