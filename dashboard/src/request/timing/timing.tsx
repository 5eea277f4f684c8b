import { useMemo, useState } from "react";
import { duration } from "~/format/duration";
import { bytes, count, plural } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";
import { gapsOf } from "./chunks";
import css from "./timing.module.css";
import { TimingBar } from "./timing-bar";

/** Where the time went, and how evenly the answer came. */
export function Timing({ request }: { request: RequestDetail }) {
  const { timeline, relay_ms, first_token_ms, duration_ms, stream, chunks } = request;
  const [pointed, setPointed] = useState(-1);
  const gaps = useMemo(() => gapsOf(timeline), [timeline]);
  const total = duration_ms ?? timeline.at(-1)?.[0] ?? 0;
  const begun = first_token_ms ?? timeline[0]?.[0] ?? null;
  const facts: Fact[] = [
    {
      name: "relay",
      value: relay_ms === null ? null : relay_ms < 0.05 ? "<0.1 ms" : duration(relay_ms),
      title: "The relay's own share",
    },
    {
      name: "waiting",
      value: begun === null ? null : duration(begun),
      title: stream ? "To the first token" : "To the answer's first byte",
    },
    {
      name: stream ? "streaming" : "receiving",
      value: begun === null || duration_ms === null ? null : duration(duration_ms - begun),
    },
  ];
  const piece = timeline[pointed];
  const before = timeline[pointed - 1];

  return (
    <>
      {timeline.length > 0 && (
        <TimingBar
          timeline={timeline}
          total={total}
          waiting={begun ?? 0}
          relay={relay_ms ?? 0}
          pointed={pointed}
          onPoint={setPointed}
        />
      )}
      <FactList facts={facts} />
      <p className={css.barNote}>
        {piece === undefined ? (
          <>
            {chunks === 0 ? "no chunk of an answer" : plural(chunks, "chunk")}
            {gaps !== undefined &&
              `, median gap ${duration(gaps.median)}, longest ${duration(gaps.longest)} after chunk ${count(gaps.after)}`}
            {chunks > timeline.length && timeline.length > 0 && `; the first ${count(timeline.length)} are drawn`}
          </>
        ) : (
          <>
            chunk {count(pointed + 1)} of {count(timeline.length)}: after {duration(piece[0])}, {bytes(piece[1])}
            {before !== undefined && `, ${duration(piece[0] - before[0])} after the one before`}
          </>
        )}
      </p>
    </>
  );
}
