/** A tool call of the timeline: its arguments and its result, side by side. */

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { turnQuery } from "~/api/requests";
import { parsedExactly, pretty } from "~/domain/json";
import { duration } from "~/format/duration";
import { plural } from "~/format/number";
import type { LaneCall } from "~/generated/api-types";
import { LongText } from "~/ui/long-text";
import { QuietButton } from "~/ui/quiet-button";
import { callKey } from "./lane-model";
import type { ShowTurn } from "./scroll-position";
import css from "./timeline.module.css";

type Props = {
  call: LaneCall;
  /** If the call was opened as one of several: its number, and a function that opens the next or the previous one. */
  steps: { at: number; total: number; onStep: (step: 1 | -1) => void } | undefined;
  onClose: () => void;
  onTurn: ShowTurn;
};

/** Shows the beginnings of arguments and result until they are loaded. */
export function CallPanel({ call, steps, onClose, onTurn }: Props) {
  const asking = useQuery(turnQuery(call.request, ONLY_RESPONSE)).data;
  const { result_request, result_message } = call;
  const bringing = useQuery({
    ...turnQuery(result_request ?? "", result_message ?? 0),
    enabled: result_request !== null,
  }).data;
  const calls = asking?.response?.outputs?.[0]?.parts?.filter(({ kind }) => kind === "tool_call") ?? [];
  const called = calls.find(({ id }) => id !== undefined && id === call.id) ?? calls[call.position];
  const [message] = bringing?.messages ?? [];
  const result = message?.parts?.find(({ kind }) => kind === "tool_result");
  return (
    <section
      ref={focusPanel}
      className={css.panel}
      tabIndex={-1}
      aria-label={`Call of ${call.name}`}
      onKeyDown={(event) => {
        const action = {
          Escape: onClose,
          ArrowLeft: steps && (() => steps.onStep(-1)),
          ArrowRight: steps && (() => steps.onStep(1)),
        }[event.key];
        if (action === undefined) return;
        event.preventDefault();
        action();
      }}
    >
      <header>
        {steps !== undefined && (
          <span className={css.steps}>
            <QuietButton label="Previous failed call" title="Previous failed call: ←" onClick={() => steps.onStep(-1)}>
              ‹
            </QuietButton>
            <QuietButton label="Next failed call" title="Next failed call: →" onClick={() => steps.onStep(1)}>
              ›
            </QuietButton>
            <span role="status">
              failed call {steps.at} of {steps.total}
            </span>
          </span>
        )}
        <h2>
          <bdi>{call.name}</bdi>
        </h2>
        <span data-tone={call.failed ? "bad" : undefined}>{outcomeOf(call)}</span>
        <span className={css.buttons}>
          <QuietButton onClick={() => onTurn(call.request, call.position)}>turn {call.turn}</QuietButton>
          {result_request !== null && (
            <QuietButton onClick={() => onTurn(result_request)}>turn of the result</QuietButton>
          )}
          <QuietButton label="Close the call" onClick={onClose}>
            ✕
          </QuietButton>
        </span>
      </header>
      <div key={callKey(call)} className={css.sides}>
        <Side title="Arguments">
          <Value text={called?.arguments ?? call.arguments} />
        </Side>
        <Side title={call.failed ? "Result, looks like an error" : "Result"}>
          {call.result === null ? (
            <p className="note">No request has brought a result.</p>
          ) : (
            <Value text={result?.text ?? call.result} />
          )}
        </Side>
      </div>
    </section>
  );
}

/** A call that is opened takes the focus, so that its text is read and Escape closes it. */
function focusPanel(panel: HTMLElement | null): void {
  panel?.focus({ preventScroll: true });
}

/** More messages than a request can have, so that only the response is loaded. */
const ONLY_RESPONSE = 999_999_999;

function outcomeOf({ start_ms, end_ms, failed, result_lines }: LaneCall): string {
  if (end_ms === null) return "no result";
  const took = `${duration(end_ms - start_ms)}, ${plural(result_lines, "line")}`;
  return failed ? `✗ failed, ${took}` : took;
}

function Side({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="muted">{title}</h3>
      {children}
    </div>
  );
}

/** Text, with JSON on several lines. */
function Value({ text }: { text: string }) {
  const value = parsedExactly(text);
  if (text === "") return <p className="note">(empty)</p>;
  return <LongText text={typeof value === "object" && value !== null ? pretty(value) : text} className={css.mono} />;
}
