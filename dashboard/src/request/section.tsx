import type { ReactNode } from "react";
import css from "./section.module.css";
import { type SectionName, sectionId } from "./sections";

type SectionProps = {
  name: SectionName;
  children: ReactNode;
  aside?: string;
  /** Its place tells its name already. */
  isPlain?: boolean;
};

/** One part of the drawer, with a heading the words above lead to. */
export function Section({ name, children, aside, isPlain = false }: SectionProps) {
  return (
    <section className={css.section} aria-labelledby={sectionId(name)}>
      <div className={isPlain ? "unseen" : css.heading}>
        <h2 id={sectionId(name)} className={css.title} tabIndex={-1}>
          {name}
        </h2>
        {aside !== undefined && <span className={css.aside}>{aside}</span>}
      </div>
      {children}
    </section>
  );
}
