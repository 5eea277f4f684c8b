import type { RequestDetail } from "~/generated/api-types";
import { CopyBar } from "~/request/copy/copy-bar";
import { QuietButton } from "~/ui/quiet-button";
import css from "./drawer.module.css";

type TopBarProps = {
  request: RequestDetail | undefined;
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/** What can be done with the drawer as a whole; stays in sight. */
export function TopBar({ request, newer, older, onGo, onClose }: TopBarProps) {
  return (
    <div className={css.bar}>
      <QuietButton onClick={onClose}>
        <span aria-hidden="true">✕</span> <span className="unseen">Close the request</span>
        <kbd className={css.key} aria-hidden="true">
          Esc
        </kbd>
      </QuietButton>
      <QuietButton isOff={newer === null} onClick={() => newer !== null && onGo(newer)}>
        <span aria-hidden="true">‹</span> newer <span className="unseen">request</span>
        <kbd className={css.key} aria-hidden="true">
          k
        </kbd>
      </QuietButton>
      <QuietButton isOff={older === null} onClick={() => older !== null && onGo(older)}>
        older <span className="unseen">request</span>
        <kbd className={css.key} aria-hidden="true">
          j
        </kbd>
        <span aria-hidden="true">›</span>
      </QuietButton>
      <CopyBar request={request} />
    </div>
  );
}
