/** The sections of a request, with a link to each section. */

import { Group, Stack } from "@mantine/core";
import { type ReactNode, useCallback, useRef, useState } from "react";
import { duration } from "~/format/duration";
import type { RequestDetail } from "~/generated/api-types";
import { QuietButton } from "~/ui/quiet-button";
import { CompareLinks } from "./compare-links";
import { Conversation } from "./conversation-section";
import { TokensCost } from "./cost-section";
import { Feedback } from "./feedback-section";
import { Headers } from "./headers-section";
import { Parameters } from "./parameters-section";
import { Raw } from "./raw-section";
import css from "./request.module.css";
import type { ResponseView } from "./response-section";
import { DuplicateIdLinks, FirstLine, Notes, Tags } from "./summary";
import { Timing } from "./timing-section";
import { TurnLine } from "./turn-navigation";

type RequestViewProps = {
  request: RequestDetail;
  view: ResponseView;
  onView: (view: ResponseView) => void;
  onGo: (id: string) => void;
};

/** All sections of a request, on one scrolling page. */
export function RequestView({ request, view, onView, onGo }: RequestViewProps) {
  return (
    <div ref={scrollToStart}>
      <Stack component="header" className={css.head} gap={6}>
        <FirstLine request={request} />
        <Tags request={request} />
        <TurnLine request={request} onGo={onGo} />
        <CompareLinks request={request} />
        <Notes notes={request.warnings} kind="warning" />
        <Notes notes={request.notes} kind="note" />
        <Notes notes={request.advice} kind="advice" />
        <DuplicateIdLinks sightings={request.also} onGo={onGo} />
      </Stack>
      <SectionLinks />
      <Section name="Conversation" isPlain>
        <Conversation request={request} view={view} onView={onView} />
      </Section>
      <Section
        name="Timing"
        aside={request.outcome === "open" ? "still running" : `duration ${duration(request.duration_ms)}`}
      >
        <Timing request={request} />
      </Section>
      <Section name="Tokens & cost">
        <TokensCost request={request} onGo={onGo} />
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
      <Section name="Feedback">
        <Feedback request={request} />
      </Section>
    </div>
  );
}

/**
 * A ref callback. When another request is opened, scroll to the top, or to the first match of the search. The match stays
 * visible while parts of the request are loading, until the user scrolls or presses a key.
 */
function scrollToStart(page: HTMLElement | null): (() => void) | undefined {
  const frame = page?.closest<HTMLElement>("[data-request]");
  if (!page || !frame) return undefined;
  frame.scrollTop = 0;
  const observer = new ResizeObserver(() => showFirstMatch(frame));
  observer.observe(page);
  const stopped = new AbortController();
  stopped.signal.addEventListener("abort", () => observer.disconnect());
  for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    frame.addEventListener(event, () => stopped.abort(), { passive: true, signal: stopped.signal });
  }
  return () => stopped.abort();
}

/** If the first match is not visible, scroll it to the upper third. */
function showFirstMatch(frame: HTMLElement): void {
  const match = frame.querySelector("mark")?.getBoundingClientRect();
  const { top, bottom, height } = frame.getBoundingClientRect();
  if (match !== undefined && (match.top < top || match.bottom > bottom)) {
    frame.scrollTop += match.top - top - height / 3;
  }
}

type SectionProps = {
  name: SectionName;
  children: ReactNode;
  aside?: string;
  /** Whether the heading is hidden. */
  isPlain?: boolean;
};

/** A section with a heading. The section links lead to the heading. */
function Section({ name, children, aside, isPlain = false }: SectionProps) {
  return (
    <section className={css.section} aria-labelledby={sectionId(name)} data-section={sectionId(name)}>
      <Group className={isPlain ? "visually-hidden" : ""} justify="space-between" mb={6}>
        <h2 id={sectionId(name)} className={css.title} tabIndex={-1}>
          {name}
        </h2>
        {aside !== undefined && <span className="muted">{aside}</span>}
      </Group>
      {children}
    </section>
  );
}

const SETTLING_MS = 200;

/** Links to the sections. They stay visible and show which section is being read. */
function SectionLinks() {
  const [current, setCurrent] = useState<SectionName>(SECTIONS[0]);
  const chosenAt = useRef(0);
  const mount = useCallback((nav: HTMLElement | null) => {
    const frame = nav?.closest("[data-request]");
    if (!nav || !frame) return undefined;
    const onScroll = () => {
      // The last sections may not reach the top, so a chosen section stays current until the user scrolls.
      if (performance.now() - chosenAt.current < SETTLING_MS) return;
      setCurrent(sectionAt(nav.getBoundingClientRect().bottom));
    };
    frame.addEventListener("scroll", onScroll, { passive: true });
    return () => frame.removeEventListener("scroll", onScroll);
  }, []);
  const choose = (name: SectionName) => {
    chosenAt.current = performance.now();
    setCurrent(name);
    goTo(name);
  };
  return (
    <Group component="nav" ref={mount} className={css.nav} gap="2px 0" aria-label="Sections of the request">
      {SECTIONS.map((name) => (
        <QuietButton key={name} aria-current={name === current ? "true" : undefined} onClick={() => choose(name)}>
          {name}
        </QuietButton>
      ))}
    </Group>
  );
}

/** A section is current as soon as its heading is at the top. */
const HEADING_SPACE = 24;

/** The section at a vertical position of the screen. */
function sectionAt(line: number): SectionName {
  const begun = SECTIONS.filter((name) => {
    const section = sectionOf(name);
    return section !== null && section.getBoundingClientRect().top <= line + HEADING_SPACE;
  });
  return begun.at(-1) ?? SECTIONS[0];
}

/** Go to a section. Its heading takes the focus, so that Tab continues from the heading. */
export function goTo(name: SectionName): void {
  document.getElementById(sectionId(name))?.focus({ preventScroll: true });
  sectionOf(name)?.scrollIntoView({ block: "start" });
}

function sectionOf(name: SectionName): Element | null {
  return document.querySelector(`[data-section="${sectionId(name)}"]`);
}

/** The response is a part of the conversation. */
const SECTIONS = [
  "Conversation",
  "Response",
  "Timing",
  "Tokens & cost",
  "Parameters",
  "Headers",
  "Raw",
  "Feedback",
] as const;

type SectionName = (typeof SECTIONS)[number];

/** The id of a section's heading. */
function sectionId(name: SectionName): string {
  return `request-${name.toLowerCase().replace(/\W+/g, "-")}`;
}
