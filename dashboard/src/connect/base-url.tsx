import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import { CopyButton } from "~/ui/copy-button";
import styles from "./base-url.module.css";

/** The one thing a program changes, always at hand: `base URL http://127.0.0.1:4100/v1 ⧉`. */
export function BaseUrl() {
  const { data: status } = useQuery(statusQuery());
  if (status === undefined) return null;
  return (
    <span className={styles.address}>
      <span className={styles.words}>
        base URL <code>{status.relay_base_url}</code>
      </span>
      <CopyButton text={status.relay_base_url} label="base URL" />
    </span>
  );
}
