/** Notes for the whole page: sample data, and a new version of the page. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { PAGE } from "~/api/page-config";
import { useStatus } from "~/api/status";
import { QuietButton } from "~/ui/quiet-button";
import css from "./status-bar.module.css";

const NAME = "sample-data";

/** A note that the log contains sample data. The note can be hidden for this tab. */
export function SampleNote() {
  const isSample = useStatus((status) => status.sample_data);
  const [isDismissed, setDismissed] = useState(() => isHidden(NAME));
  if (isDismissed || !isSample) return null;

  const dismiss = () => {
    hide(NAME);
    setDismissed(true);
  };

  return (
    <section
      className={css.sample}
      aria-label="Sample data"
      title="The requests are sample data. Send your own requests to the base URL."
    >
      <strong>Sample data</strong> <span className={css.source}>from a simulated upstream</span>
      <QuietButton label="Hide the note about sample data" onClick={dismiss}>
        Hide note
      </QuietButton>
    </section>
  );
}

type Props = { reload?: () => void };

/** A note that the server has another build of the page than this tab. */
export function VersionNotice({ reload = () => window.location.reload() }: Props) {
  const served = useStatus((status) => status.page_build) ?? "";
  const isOld = served !== "" && PAGE.build !== "" && served !== PAGE.build;
  return (
    <div role="status">
      {isOld && (
        <div className="notice bottom-line">
          Relaybook was updated. Reload to use the new page.
          <Button variant="default" size="compact-sm" onClick={reload}>
            Reload
          </Button>
        </div>
      )}
    </div>
  );
}

/** The storage key for a hidden note. Notes stay hidden until the tab is closed. */
const key = (name: string) => `relaybook.hidden.${name}`;

/** Whether a note is hidden. False if the browser blocks storage for this page. */
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
    // Without storage, the note returns when the page is loaded again.
  }
}
