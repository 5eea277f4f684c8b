import type { Row } from "~/generated/api-types";
import css from "./log.module.css";

/** That a request has properties beside the one with a column: `+3`, with their names and values at the pointer. */
export function MoreProperties({ row, besides }: { row: Row; besides: string | undefined }) {
  const others = Object.entries(row.properties).filter(([name]) => name !== besides);
  if (others.length === 0) return null;
  const words = others.map(([name, value]) => `${name}: ${value}`).join("\n");
  return (
    <span className={css.more} title={words}>
      <span aria-hidden="true">+{others.length}</span>
      <span className="unseen">{`and ${words}`}</span>
    </span>
  );
}
