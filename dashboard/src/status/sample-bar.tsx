import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { statusQuery } from "~/api/status";
import { CopyButton } from "~/ui/copy-button";
import styles from "./bars.module.css";
import { hide, isHidden } from "./hidden-bars";

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
    <section className={styles.bar} aria-label="Sample data">
      <p>
        <strong>Sample data:</strong> the provider is simulated. Send your own request to{" "}
        <span className={styles.address}>
          <code>{status.relay_base_url}</code>
          <CopyButton text={status.relay_base_url} label="base URL" />
        </span>{" "}
        and it appears on top.
      </p>
      <button type="button" className={styles.close} aria-label="Hide the note on sample data" onClick={putAway}>
        <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true" stroke="currentColor" strokeWidth="1.5">
          <path d="m3 3 10 10M13 3 3 13" />
        </svg>
      </button>
    </section>
  );
}
