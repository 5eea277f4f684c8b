import styles from "./status-line.module.css";

type NotLoadedProps = { opened: boolean; onClose: () => void };

/** Instead of the status when its code could not be loaded: an old tab asks for a file the server no longer has. */
export function NotLoaded({ opened, onClose }: NotLoadedProps) {
  if (!opened) return null;
  return (
    <p className={`${styles.notice} ${styles.noticeAmber}`} role="alert">
      <span>The status could not be loaded. Relaybook was updated, or does not answer: reload the page.</span>
      <button type="button" className={styles.action} onClick={() => window.location.reload()}>
        reload
      </button>
      <button type="button" className={styles.action} onClick={onClose}>
        close
      </button>
    </p>
  );
}
