/** Banners above the page: sample data, and a new version of the page. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PAGE } from "~/api/page-config";
import { statusQuery } from "~/api/status";
import { CopyButton } from "~/ui/copy-button";
import css from "./status-bar.module.css";

const NAME = "sample-data";

/** Says that what is shown is a demo, and how a request of one's own gets in. It can be put away for this tab. */
export function SampleBar() {
  const { data: status } = useQuery(statusQuery());
  const [isAway, setAway] = useState(() => isHidden(NAME));
  if (isAway || status === undefined || !status.sample_data) return null;

  const putAway = () => {
    hide(NAME);
    setAway(true);
  };

  return (
    <section className={css.bar} aria-label="Sample data">
      <p>
        <strong>Sample data:</strong> the provider is simulated. Send your own request to{" "}
        <span className={css.address}>
          <code>{status.relay_base_url}</code>
          <CopyButton text={status.relay_base_url} label="base URL" />
        </span>{" "}
        and it appears on top.
      </p>
      <button type="button" className={css.close} aria-label="Hide the note on sample data" onClick={putAway}>
        <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true" stroke="currentColor" strokeWidth="1.5">
          <path d="m3 3 10 10M13 3 3 13" />
        </svg>
      </button>
    </section>
  );
}

type Props = { reload?: () => void };

/** Tells an open tab that the server has another build of the page by now. */
export function VersionNotice({ reload = () => window.location.reload() }: Props) {
  const { data: status } = useQuery(statusQuery());
  const served = status?.page_build ?? "";
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

/** Which bars the reader has put away, for as long as the tab is open. */
const key = (name: string) => `relaybook.hidden.${name}`;

/** False where the browser keeps nothing for this page. */
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
    // Then it comes back with the next load: better than not going now.
  }
}
