import { Button } from "@mantine/core";
import { count, plural } from "~/format/number";
import css from "./page.module.css";

type ListFootProps = {
  shown: number;
  /** What they are, in the singular. */
  one: string;
  hasMore: boolean;
  isReading: boolean;
  onMore: () => void;
};

/** How many rows there are, or that there are more, with the way to them. */
export function ListFoot({ shown, one, hasMore, isReading, onMore }: ListFootProps) {
  return (
    <div className={css.foot}>
      <span role="status">{hasMore ? `The first ${count(shown)}.` : `${plural(shown, one)}.`}</span>
      {hasMore && (
        <Button variant="default" size="compact-sm" aria-disabled={isReading} onClick={isReading ? undefined : onMore}>
          {isReading ? "reading…" : "more"}
        </Button>
      )}
    </div>
  );
}
