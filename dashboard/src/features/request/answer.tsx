/** The response of a request: header, choices, error. */

import { Group } from "@mantine/core";
import { useState } from "react";
import { objectOf, pretty } from "~/domain/json";
import { ChoiceView } from "~/features/conversation/choice";
import css from "~/features/conversation/conversation.module.css";
import { type Choice, describeEmbeddings, normalizeChoices, plainText } from "~/features/conversation/message-model";
import { explainMissingResponse } from "~/features/conversation/unavailable";
import { FilterLink } from "~/filters/filter-link";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";

const RESPONSE_VIEWS = { rendered: "Rendered", text: "Text", json: "JSON" };
export type ResponseView = keyof typeof RESPONSE_VIEWS;

type AnswerProps = { request: RequestDetail; view: ResponseView; onView: (view: ResponseView) => void };

/** The response. While the request is running, only the part that has arrived is shown. */
export function Answer({ request, view, onView }: AnswerProps) {
  const [chosen, setChosen] = useState(0);
  const { answer } = request;
  const vectors = describeEmbeddings(answer);
  const choices = vectors === undefined ? normalizeChoices(answer) : [];
  const choice = choices[chosen] ?? choices[0] ?? previewed(request);
  const error = answer?.error ?? null;
  const isEmpty = vectors === undefined && choice === undefined && error === null;
  return (
    <article className={css.response} aria-label="response" aria-busy={request.outcome === "open"}>
      <ResponseHeader
        request={request}
        choice={choice}
        chosen={Math.min(chosen, Math.max(0, choices.length - 1))}
        choices={choices.length}
        onChoose={setChosen}
        view={view}
        onView={onView}
      />
      {view === "json" && answer !== null && vectors === undefined ? (
        <LongText text={pretty(answer)} className={css.mono} />
      ) : (
        <>
          {vectors !== undefined && <p>{vectors}</p>}
          {choice !== undefined && (
            <ChoiceView choice={choice} isRendered={view === "rendered"} isGrowing={request.outcome === "open"} />
          )}
          {error !== null && <ResponseError error={error} />}
        </>
      )}
      {isEmpty && <p className="note">{explainMissingResponse(request)}</p>}
    </article>
  );
}

/** The beginning of the response of a running request, as the log shows it. */
function previewed({ answer, output_preview, outcome }: RequestDetail): Choice | undefined {
  if (answer !== null || outcome !== "open" || output_preview === null) return undefined;
  return { text: output_preview, reasoning: undefined, refusal: undefined, calls: [], finishReason: undefined };
}

type ResponseHeaderProps = {
  request: RequestDetail;
  choice: Choice | undefined;
  /** The index of the shown choice, from 0. */
  chosen: number;
  choices: number;
  onChoose: (index: number) => void;
  view: ResponseView;
  onView: (view: ResponseView) => void;
};

/** The choice, its finish reason, the tokens, and how the response is shown. */
function ResponseHeader({ request, choice, chosen, choices, onChoose, view, onView }: ResponseHeaderProps) {
  const { output_tokens, tokens_estimated } = request;
  const go = (by: number) => onChoose((chosen + by + choices) % choices);
  return (
    <Group component="header" className="muted" gap="0 10px" mih={26}>
      <h3 className={css.role}>response</h3>
      {choices > 1 && (
        <Group gap={0}>
          choice {chosen + 1} of {choices}
          <QuietButton label="Previous choice" onClick={() => go(-1)}>
            ‹
          </QuietButton>
          <QuietButton label="Next choice" onClick={() => go(1)}>
            ›
          </QuietButton>
        </Group>
      )}
      {choice?.finishReason !== undefined && <FinishReason reason={choice.finishReason} request={request} />}
      {output_tokens !== null && (
        <span title={choices > 1 ? "Of all choices" : undefined}>
          {tokens_estimated && "≈"}
          {count(output_tokens)} {output_tokens === 1 ? "token" : "tokens"}
        </span>
      )}
      <Group gap={4} ms="auto">
        {choice !== undefined && request.answer !== null && (
          <Group gap={0} role="group" aria-label="View of the response">
            {Object.entries(RESPONSE_VIEWS).map(([key, name]) => (
              <QuietButton key={key} selected={view === key} onClick={() => onView(key as ResponseView)}>
                {name}
              </QuietButton>
            ))}
          </Group>
        )}
        {choice !== undefined && <CopyButton text={plainText(choice)} label="response" />}
      </Group>
    </Group>
  );
}

/**
 * The finish reason of a choice. It is a link that filters the log if it is also the finish reason of the request.
 */
function FinishReason({ reason, request }: { reason: string; request: RequestDetail }) {
  if (reason !== request.finish_reason) return <span>{reason}</span>;
  return (
    <FilterLink name="finish_reason" value={reason} className={pageCss.value}>
      {reason}
    </FilterLink>
  );
}

/** An error in the response, and its origin. */
function ResponseError({ error }: { error: unknown }) {
  const isOurs = objectOf(error).type === "relay_error";
  return (
    <div className={css.error}>
      <span className="note">{isOurs ? "Error from Relaybook" : "Error from the upstream"}</span>
      <LongText text={pretty(error)} className={css.mono} />
    </div>
  );
}
