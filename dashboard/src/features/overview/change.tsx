/** How a figure differs from the same span before. */

import { share } from "~/format/number";
import css from "./overview-page.module.css";

type ChangeProps = {
  now: number | null;
  /** The value in the span before. Nothing is shown if it is unknown or 0. */
  before: number | null | undefined;
  format: (value: number) => string;
};

/** `+12 %`, with the sentence `12 % more than before: 1,204`. */
export function Change({ now, before, format }: ChangeProps) {
  if (now === null || before === null || before === undefined || before === 0) return null;
  const percents = Math.round(100 * (now / before - 1));
  const size = `${Math.abs(percents).toLocaleString("en-US")} %`;
  const words = percents === 0 ? "as before" : `${size} ${percents > 0 ? "more" : "less"} than before`;
  return (
    <span className={css.change} title={`${words}: ${format(before)}`}>
      <span aria-hidden="true">{percents === 0 ? "±0 %" : `${percents > 0 ? "+" : "−"}${size}`}</span>
      <span className="visually-hidden">{words}</span>
    </span>
  );
}

/** The share in the span before: `was 3.1 %`. A change of a share in percent would be ambiguous. */
export function Was({ before }: { before: number | null | undefined }) {
  return before === null || before === undefined ? null : <span className={css.change}>was {share(before)}</span>;
}
