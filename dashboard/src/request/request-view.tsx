import { duration } from "~/format/duration";
import type { RequestDetail } from "~/generated/api-types";
import type { AnswerView } from "~/request/conversation/answer-view";
import { Conversation } from "~/request/conversation/conversation";
import { Raw } from "~/request/raw/raw";
import { Timing } from "~/request/timing/timing";
import { Also } from "./also";
import { FirstLine } from "./first-line";
import { toBeginning } from "./frame";
import css from "./head.module.css";
import { Headers } from "./headers";
import { Notes } from "./notes";
import { Parameters } from "./parameters";
import { Section } from "./section";
import { SectionLinks } from "./section-links";
import { Tags } from "./tags";
import { TokensCost } from "./tokens-cost";
import { TurnLine } from "./turn-line";

type RequestViewProps = {
  request: RequestDetail;
  view: AnswerView;
  onView: (view: AnswerView) => void;
  onGo: (id: string) => void;
};

/** All of a request, in one scroll. */
export function RequestView({ request, view, onView, onGo }: RequestViewProps) {
  return (
    <div ref={toBeginning}>
      <header className={css.head}>
        <FirstLine request={request} />
        <Tags request={request} />
        <TurnLine request={request} onGo={onGo} />
        <Notes notes={request.warnings} kind="warning" />
        <Notes notes={request.advice} kind="advice" />
        <Also sightings={request.also} onGo={onGo} />
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
