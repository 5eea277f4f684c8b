import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bucketsOf, statsQuery } from "~/api/stats";
import { useLabels } from "~/filters/labels";
import { useOverview } from "~/navigation/overview-search";
import { useHeldStill } from "~/ui/held-still";
import { Charts } from "./charts";
import { FiguresError } from "./figures-error";
import { GroupTable } from "./group-table";
import { groupsOf } from "./groups";
import { NoFigures } from "./no-figures";
import css from "./page.module.css";
import { Totals } from "./totals";

/** What the requests add up to: in all, over time, and by value. */
export function Figures() {
  const { search, by } = useOverview();
  const labels = useLabels();
  const { data: answer, error, isPlaceholderData, refetch } = useQuery(statsQuery(search, by));
  // While another question is being answered, the charts are still those of the one before.
  const shownBy = answer?.groups[0] === undefined ? by : Object.keys(answer.groups[0].by)[0];
  const parted = useMemo(
    () => answer && { buckets: bucketsOf(answer), groups: groupsOf(answer, shownBy, labels), by: shownBy },
    [answer, shownBy, labels],
  );

  const { shown, onPointerDown } = useHeldStill({ answer, parted });

  if (answer === undefined || parted === undefined) {
    if (error !== null) return <FiguresError error={error} onAgain={() => void refetch()} />;
    return (
      <p className={css.message} role="status">
        Adding up…
      </p>
    );
  }
  if (answer.total.requests === 0) return <NoFigures />;
  return (
    <div className={css.figures} aria-busy={isPlaceholderData}>
      <div className={css.totals}>
        <Totals total={answer.total} />
      </div>
      <div className={css.shown} data-parted={shownBy === undefined ? undefined : ""}>
        <div className={css.charts} onPointerDown={onPointerDown}>
          <Charts parted={shown.parted ?? parted} answer={shown.answer ?? answer} />
        </div>
        {shownBy !== undefined && (
          <div className={css.groups}>
            <GroupTable groups={parted.groups} by={shownBy} />
          </div>
        )}
      </div>
    </div>
  );
}
