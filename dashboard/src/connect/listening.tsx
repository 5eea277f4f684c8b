import styles from "./connect.module.css";

/** That nothing has to be done but to send a request. */
export function Listening() {
  return (
    <p className={styles.listening}>
      <span className={styles.pulse} aria-hidden="true" />
      Listening… the first one appears here by itself.
    </p>
  );
}
