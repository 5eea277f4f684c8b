import styles from "./status-line.module.css";
import type { Trouble } from "./troubles";

const ACTIONS = { advice: "what to do", again: "ask again now" } as const;

type TroubleNoticeProps = {
  trouble: Trouble;
  /** How many other things are wrong. */
  others: number;
  onAct: () => void;
};

/** What is wrong, in one sentence with one action. */
export function TroubleNotice({ trouble, others, onAct }: TroubleNoticeProps) {
  return (
    <p className={`${styles.notice} ${trouble.tone === "bad" ? styles.noticeBad : styles.noticeAmber}`}>
      <span>
        {trouble.sentence}
        {others > 0 && ` And ${others} more.`}
      </span>
      <button type="button" className={styles.action} onClick={onAct}>
        {ACTIONS[trouble.action]}
      </button>
    </p>
  );
}
