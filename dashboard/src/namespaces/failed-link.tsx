import type { MouseEvent } from "react";
import { only } from "~/domain/filter";
import { linkName } from "~/domain/filter-text";
import { EVERYTHING } from "~/domain/log-search";
import { count } from "~/format/number";
import { logHref, useGo } from "~/navigation/links";
import css from "./table.module.css";

/** How many requests of a namespace failed, as a real link to them in the log. */
export function FailedLink({ namespace, failed }: { namespace: string; failed: number }) {
  const go = useGo();
  if (failed === 0)
    return (
      <span className={css.none}>
        0<span className={css.unit}> failed</span>
      </span>
    );
  const search = { ...EVERYTHING, filter: only(only([], "namespace", namespace), "status", "error") };
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go({ search });
  };
  return (
    <a
      className={css.failed}
      href={logHref(search)}
      aria-label={`${linkName("namespace", namespace)} and status error: ${count(failed)} failed`}
      title="Show those that failed in the log"
      onClick={follow}
    >
      <span aria-hidden="true">✗ </span>
      {count(failed)}
      <span className={css.unit}> failed</span>
    </a>
  );
}
