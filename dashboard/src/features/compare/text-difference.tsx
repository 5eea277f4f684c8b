/** The difference between two texts, side by side, or below each other on a narrow screen. */

import { plural } from "~/format/number";
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
            {plural(row.omitted, "equal character")}
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of one text, in order
          <div key={at} className={css.sides} data-difference="" data-whole={isWhole(row) || undefined} tabIndex={-1}>
            <Side name="A" segments={row.a} />
            <Side name="B" segments={row.b} />
          </div>
        ),
      )}
      {difference.more !== undefined && <p className={css.fold}>{plural(difference.more, "more difference")}</p>}
    </div>
  );
}

/** If so many characters have no equal text among them, marking every word would make them hard to read. */
const MANY = 100;

function isWhole({ a, b }: { a: readonly Segment[]; b: readonly Segment[] }): boolean {
  const all = [...a, ...b];
  const length = Math.max(...[a, b].map((side) => side.reduce((sum, { text }) => sum + text.length, 0)));
  return length > MANY && all.every(({ kind, text }) => kind !== "equal" || text.trim().length <= 1);
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
