import { EVERYTHING } from "~/domain/log-search";
import { count } from "~/format/number";
import { ago, utc } from "~/format/time";
import { logHref, useGo } from "~/navigation/links";
import css from "./connect.module.css";

type Props = {
  requests: number;
  /** When the newest one came. */
  last: string;
  now: Date;
};

const JUST_MS = 60_000;

/** That requests come in, how many and when the last one, with the way to them. */
export function Arrivals({ requests, last, now }: Props) {
  const go = useGo();
  const when = ago(last, now);
  const isJust = now.getTime() - new Date(last).getTime() < JUST_MS;
  return (
    <p className={css.arrivals}>
      <span>
        <span className={css.arrived} aria-hidden="true">
          ●
        </span>{" "}
        {isJust ? "Requests are arriving" : "Requests have arrived"}: {count(requests)} so far, the last{" "}
        <time dateTime={last} title={utc(last)}>
          {when === "now" ? "just now" : when}
        </time>
        .
      </span>
      <a
        href={logHref(EVERYTHING)}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          go({ search: EVERYTHING });
        }}
      >
        Open the log
      </a>
    </p>
  );
}
