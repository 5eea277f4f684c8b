/** The sections of a request, with links to each. */

import { type ReactNode, useCallback, useRef, useState } from "react";
import { duration } from "~/format/duration";
import type { RequestDetail } from "~/generated/api-types";
import type { ResponseView } from "./answer";
import { Conversation } from "./conversation-section";
import { Headers } from "./headers-section";
import { Parameters, TokensCost } from "./parameters-section";
import { Raw } from "./raw-section";
import css from "./request-detail.module.css";
import { scrollToTop } from "./request-drawer";
import { DuplicateIdLinks, FirstLine, Notes, Tags } from "./summary";
import summaryCss from "./summary.module.css";
import { Timing } from "./timing-section";
import { TurnLine } from "./turn-navigation";

type RequestViewProps = {
  request: RequestDetail;
  view: ResponseView;
  onView: (view: ResponseView) => void;
  onGo: (id: string) => void;
};

/** All of a request, in one scroll. */
export function RequestView({ request, view, onView, onGo }: RequestViewProps) {
  return (
    <div ref={scrollToTop}>
      <header className={summaryCss.head}>
        <FirstLine request={request} />
        <Tags request={request} />
        <TurnLine request={request} onGo={onGo} />
        <Notes notes={request.warnings} kind="warning" />
        <Notes notes={request.advice} kind="advice" />
        <DuplicateIdLinks sightings={request.also} onGo={onGo} />
      </header>
      <SectionLinks />
      <Section name="Conversation" isPlain>
        <Conversation request={request} view={view} onView={onView} />
      </Section>
      <Section
        name="Timing"
        aside={request.outcome === "open" ? "still running" : `total ${duration(request.duration_ms)}`}
      >
        <Timing request={request} />
      </Section>
      <Section name="Tokens & cost">
        <TokensCost request={request} />
      </Section>
      <Section name="Parameters">
        <Parameters request={request} />
      </Section>
      <Section name="Headers">
        <Headers request={request} />
      </Section>
      <Section name="Raw">
        <Raw request={request} />
      </Section>
    </div>
  );
}

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
      <div className={isPlain ? "visually-hidden" : css.heading}>
        <h2 id={sectionId(name)} className={css.title} tabIndex={-1}>
          {name}
        </h2>
        {aside !== undefined && <span className={css.aside}>{aside}</span>}
      </div>
      {children}
    </section>
  );
}

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

/** The parts of the drawer, in order. */
export const SECTIONS = ["Conversation", "Timing", "Tokens & cost", "Parameters", "Headers", "Raw"] as const;

export type SectionName = (typeof SECTIONS)[number];

/** The id of a part's heading. */
export function sectionId(name: SectionName): string {
  return `request-${name.toLowerCase().replace(/\W+/g, "-")}`;
}
