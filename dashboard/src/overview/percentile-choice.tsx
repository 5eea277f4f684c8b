import { QuietButton } from "~/ui/quiet-button";
import css from "./charts.module.css";
import type { Percentile } from "./curves";

type PercentileChoiceProps = { chosen: Percentile; onChosen: (percentile: Percentile) => void; of: string };

/** Which percentile is drawn for each group. */
export function PercentileChoice({ chosen, onChosen, of }: PercentileChoiceProps) {
  return (
    <span className={css.choice}>
      {(["p50", "p95"] as const).map((each) => (
        <QuietButton key={each} isChosen={each === chosen} label={`${each} of ${of}`} onClick={() => onChosen(each)}>
          {each}
        </QuietButton>
      ))}
    </span>
  );
}
