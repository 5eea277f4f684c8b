/** The section with durations, the chunks of a stream, and the text at any moment of the stream. */

import { useMemo, useState } from "react";
import { duration } from "~/format/duration";
import { bytes, count, perSecond, plural, rate } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";
import { ArrivedText, useTexts } from "./arrived-text";
import { type Gaps, gapsOf, ratesOf, type Stall, stallsOf, type Timeline } from "./chunk-timeline";
import css from "./request.module.css";
import { stepAt } from "./response-progress";
import { MAX_BARS, RATE_COLUMNS, TimingBar } from "./timing-bar";

/** The durations of the request, and the chunks of the response. */
export function Timing({ request }: { request: RequestDetail }) {
  const { timeline, relay_ms, duration_ms, stream } = request;
  const [pointed, setPointed] = useState(-1);
  const gaps = useMemo(() => gapsOf(timeline), [timeline]);
  const stalls = useMemo(() => stallsOf(timeline, gaps?.median ?? 0), [timeline, gaps]);
  const total = duration_ms ?? timeline.at(-1)?.[0] ?? 0;
  const begun = begunOf(request);
  const hasText = stream && request.body_state === "stored" && timeline.length > 1;
  const { texts, isLoading, error } = useTexts(request, hasText && pointed !== -1);

  return (
    <>
      {timeline.length > 0 && (
        <TimingBar
          timeline={timeline}
          total={total}
          waiting={begun ?? 0}
          relay={relay_ms ?? 0}
          stalls={stalls}
          pointed={pointed}
          text={stepAt(texts, pointed + 1)?.text.slice(-60)}
          onPoint={setPointed}
        />
      )}
      <FactList facts={factsOf(request, begun)} />
      <p className="note">
        <ChunkSummary request={request} gaps={gaps} stalls={stalls} />
      </p>
      {/* The space is reserved, so that what is below keeps its place. */}
      <div className={hasText ? css.moment : undefined}>
        {hasText && pointed === -1 && <p className="note">Point at the timeline to see the text at that moment.</p>}
        {timeline[pointed] !== undefined && (
          <p className="note">
            <PointedChunk timeline={timeline} pointed={pointed} />
          </p>
        )}
        {isLoading && <p className="note">Loading the text…</p>}
        {error !== null && (
          <p className="note" role="alert">
            The text could not be loaded: {error.message}
          </p>
        )}
        {texts.length > 0 && pointed !== -1 && <ArrivedText texts={texts} chunks={pointed + 1} />}
      </div>
    </>
  );
}

/** The time of the first token, or else of the first byte. */
function begunOf({ first_token_ms, timeline }: RequestDetail): number | null {
  return first_token_ms ?? timeline[0]?.[0] ?? null;
}

/** The phases, which add up to the duration, and the tokens per second. */
function factsOf(request: RequestDetail, begun: number | null): Fact[] {
  const { relay_ms, duration_ms, stream, tokens_per_second } = request;
  const relay = relay_ms ?? 0;
  const facts: (Fact & { value: string | null })[] = [
    {
      name: "relay",
      value: relay_ms === null ? null : duration(relay_ms),
      title: "Time added by the relay",
    },
    {
      name: "waiting",
      value: begun === null ? null : duration(Math.max(0, begun - relay)),
      title: `From the request until the first ${stream ? "token" : "byte of the response"}, without the relay's time`,
    },
    {
      name: stream ? "streaming" : "receiving",
      value: begun === null || duration_ms === null ? null : duration(duration_ms - begun),
    },
    {
      name: "tokens/s",
      value: tokens_per_second === null ? null : rate(tokens_per_second, request.tokens_estimated),
      title: "Output tokens per second after the first token",
    },
  ];
  return facts.filter(({ value }) => value !== null);
}

type SummaryProps = { request: RequestDetail; gaps: Gaps | undefined; stalls: readonly Stall[] };

function ChunkSummary({ request, gaps, stalls }: SummaryProps) {
  const { chunks, timeline } = request;
  return (
    <>
      {chunks === 0 ? "No response" : plural(chunks, "chunk")}
      {gaps !== undefined &&
        `, median gap ${duration(gaps.median)}, longest gap ${duration(gaps.longest)} (after chunk ${count(gaps.after)})`}
      {chunks > timeline.length && timeline.length > 0 && `; the first ${count(timeline.length)} are shown`}
      {timeline.length > MAX_BARS && `; the chart shows the rate over time${highestRate(request)}`}
      {stalls.length > 0 && `; ${plural(stalls.length, "stall")}: ${stalls.slice(0, 3).map(stallText).join(", ")}`}
      {stalls.length > 3 && " …"}
    </>
  );
}

/** The highest rate in tokens, as the bytes tell. Empty if the number of tokens is unknown. */
function highestRate({ timeline, duration_ms, output_tokens }: RequestDetail): string {
  const total = timeline.reduce((sum, [, size]) => sum + size, 0);
  if (!output_tokens || duration_ms === null || total === 0) return "";
  const highest = Math.max(...ratesOf(timeline, duration_ms, RATE_COLUMNS));
  return `, up to ${perSecond((highest / total) * output_tokens, true)}`;
}

function stallText({ from, to, after }: Stall): string {
  return `${duration(to - from)} after chunk ${count(after)}`;
}

function PointedChunk({ timeline, pointed }: { timeline: Timeline; pointed: number }) {
  const [at, size] = timeline[pointed] ?? [0, 0];
  const before = timeline[pointed - 1];
  return (
    <>
      chunk {count(pointed + 1)} of {count(timeline.length)}: after {duration(at)}, {bytes(size)}
      {before !== undefined && `, ${duration(at - before[0])} after the previous one`}
    </>
  );
}
