/** The difference between two texts, side by side, or below each other on a narrow screen. */

import { count } from "~/format/number";
import type { TextDifference } from "~/generated/api-types";
import css from "./compare.module.css";
import { type Segment, textRows } from "./text-rows";

/** The parts in which two texts differ. Equal text between them is folded. */
export function TextDifferenceView({ difference, isMono = false }: { difference: TextDifference; isMono?: boolean }) {
  return (
    <div className={isMono ? css.mono : undefined}>
      {difference.too_different && <p className={css.fold}>Too different to compare word by word.</p>}
      {textRows(difference).map((row, at) =>
        "omitted" in row ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of one text, in order
          <p key={at} className={css.fold}>
            {count(row.omitted)} equal characters
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of one text, in order
          <div key={at} className={css.sides} data-difference="" tabIndex={-1}>
            <Side name="A" segments={row.a} />
            <Side name="B" segments={row.b} />
          </div>
        ),
      )}
      {difference.more !== undefined && <p className={css.fold}>{count(difference.more)} more differences</p>}
    </div>
  );
}

/** One text of a row. A text that does not exist is empty. */
function Side({ name, segments }: { name: string; segments: readonly Segment[] }) {
  return (
    <div className={css.side}>
      <SideName name={name} />
      <p className={css.text} dir="auto">
        {segments.length === 0 && <span className="muted">–</span>}
        {segments.map(({ kind, text, isNote }, at) => {
          const Element = kind === "removed" ? "del" : kind === "added" ? "ins" : "span";
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: segments of one text, in order
            <Element key={at} className={isNote ? css.omitted : undefined}>
              {text}
            </Element>
          );
        })}
      </p>
    </div>
  );
}

/** The name of a side, which is visible only on a narrow screen, where the sides are below each other. */
export function SideName({ name }: { name: string }) {
  return <span className={css.sideName}>{name} </span>;
}
