import { endingOf } from "~/domain/outcome";
import type { RequestDetail } from "~/generated/api-types";
import { useNow } from "~/ui/timestamp";
import css from "./head.module.css";

/** How the request ended and whose fault it was; the status beside it. */
export function FirstLine({ request }: { request: RequestDetail }) {
  const { sign, tone, text } = endingOf(request, useNow());
  const kind = request.stream ? "streamed" : request.status === null ? "" : "whole";
  return (
    <div className={css.first}>
      <p className={`${css.ending} ${css[tone]}`}>
        <span className={css.sign} aria-hidden="true">
          {sign}
        </span>
        <bdi>{text}</bdi>
      </p>
      <p className={css.status}>
        <strong>{request.status ?? "–"}</strong> {kind}
      </p>
    </div>
  );
}
