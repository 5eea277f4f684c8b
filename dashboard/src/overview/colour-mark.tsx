import css from "./charts.module.css";

/** The colour of a curve, beside its name. */
export function ColourMark({ colour }: { colour: string }) {
  return (
    <svg className={css.mark} viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" rx="2" fill={`var(${colour})`} />
    </svg>
  );
}
