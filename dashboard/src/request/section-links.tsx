import { useCallback, useRef, useState } from "react";
import css from "./section.module.css";
import { SECTIONS, type SectionName, sectionId } from "./sections";

const SETTLING_MS = 200;

/** The words that lead to the parts; they stay in sight and tell which part is being read. */
export function SectionLinks() {
  const [current, setCurrent] = useState<SectionName>(SECTIONS[0]);
  const chosenAt = useRef(0);
  const mount = useCallback((nav: HTMLElement | null) => {
    const frame = nav?.closest("[data-request]");
    if (!nav || !frame) return undefined;
    const look = () => {
      // The last parts may not reach the top: what was chosen stays chosen until the reader scrolls on.
      if (performance.now() - chosenAt.current < SETTLING_MS) return;
      setCurrent(firstInSight(nav.getBoundingClientRect().bottom));
    };
    frame.addEventListener("scroll", look, { passive: true });
    return () => frame.removeEventListener("scroll", look);
  }, []);
  const choose = (name: SectionName) => {
    chosenAt.current = performance.now();
    setCurrent(name);
    goTo(name);
  };
  return (
    <nav ref={mount} className={css.nav} aria-label="Parts of the request">
      {SECTIONS.map((name) => (
        <button
          key={name}
          type="button"
          className={css.anchor}
          aria-current={name === current ? "true" : undefined}
          onClick={() => choose(name)}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}

/** The part that lies under a line of the screen. */
function firstInSight(line: number): SectionName {
  const begun = SECTIONS.filter((name) => {
    const section = document.getElementById(sectionId(name))?.closest("section");
    return section !== null && section !== undefined && section.getBoundingClientRect().top <= line + 8;
  });
  return begun.at(-1) ?? SECTIONS[0];
}

/** The heading takes the focus, so that the next Tab goes on from there. */
function goTo(name: SectionName): void {
  const heading = document.getElementById(sectionId(name));
  heading?.focus({ preventScroll: true });
  heading?.closest("section")?.scrollIntoView({ block: "start" });
}
