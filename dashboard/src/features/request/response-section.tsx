/** The response of a request: header, outputs, error. */

import { Group } from "@mantine/core";
import { useState } from "react";
import { isContainer, objectOf, pretty } from "~/domain/json";
import css from "~/features/conversation/conversation.module.css";
import { MessageBody } from "~/features/conversation/message";
import { plainText } from "~/features/conversation/parts";
import { JsonText } from "~/features/conversation/text-view";
import { explainMissingResponse } from "~/features/conversation/unavailable";
import { FilterLink } from "~/filters/filter-link";
import { count } from "~/format/number";
import type { Output, RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";

const RESPONSE_VIEWS = { rendered: "Rendered", text: "Text", all: "All fields" };
export type ResponseView = keyof typeof RESPONSE_VIEWS;

/** The id of the heading of the response. */
export const RESPONSE_ID = "request-response";

type Props = { request: RequestDetail; view: ResponseView; onView: (view: ResponseView) => void };

/** The response. While the request is running, only the part that has arrived is shown. */
export function ResponseSection({ request, view, onView }: Props) {
  const [chosen, setChosen] = useState(0);
  const { response } = request;
  const outputs = response?.outputs ?? [];
  const output = outputs[chosen] ?? outputs[0] ?? previewed(request);
  return (
    <article
      className={css.response}
      aria-label="response"
      aria-busy={request.outcome === "open"}
      data-section={RESPONSE_ID}
    >
      <ResponseHeader
        request={request}
        output={output}
        chosen={Math.min(chosen, Math.max(0, outputs.length - 1))}
        outputs={outputs.length}
        onChoose={setChosen}
        view={view}
        onView={onView}
      />
      {view === "all" && response !== null ? (
        <JsonText text={pretty(response)} value={response} />
      ) : (
        <>
          {output !== undefined && (
            <MessageBody
              message={output}
              isRendered={view === "rendered"}
              isPlain={view === "text"}
              isGrowing={request.outcome === "open"}
            />
          )}
          {response?.error?.raw !== undefined && <ErrorView raw={response.error.raw} />}
          {output === undefined && !response?.error && <p className="note">{explainMissingResponse(request)}</p>}
        </>
      )}
    </article>
  );
}

/** The beginning of the response of a running request, as the log shows it. */
function previewed({ response, output_preview, outcome }: RequestDetail): Output | undefined {
  if (response !== null || outcome !== "open" || output_preview === null) return undefined;
  return { index: 0, parts: [{ kind: "text", text: output_preview }] };
}

type ResponseHeaderProps = {
  request: RequestDetail;
  output: Output | undefined;
  /** The position of the shown output, from 0. */
  chosen: number;
  outputs: number;
  onChoose: (index: number) => void;
  view: ResponseView;
  onView: (view: ResponseView) => void;
};

/** The output, its finish reason, the tokens, and how the response is shown. */
function ResponseHeader({ request, output, chosen, outputs, onChoose, view, onView }: ResponseHeaderProps) {
  const { output_tokens, tokens_estimated } = request;
  const go = (by: number) => onChoose((chosen + by + outputs) % outputs);
  return (
    <Group component="header" className="muted" gap="0 10px" mih={26}>
      <h3 id={RESPONSE_ID} className={css.role} tabIndex={-1}>
        response
      </h3>
      {outputs > 1 && (
        <Group gap={0}>
          output {chosen + 1} of {outputs}
          <QuietButton label="Previous output" onClick={() => go(-1)}>
            ‹
          </QuietButton>
          <QuietButton label="Next output" onClick={() => go(1)}>
            ›
          </QuietButton>
        </Group>
      )}
      {output?.finish_reason && <FinishReason reason={output.finish_reason} request={request} />}
      {output_tokens !== null && (
        <span title={outputs > 1 ? "Of all outputs" : undefined}>
          {tokens_estimated && "≈"}
          {count(output_tokens)} {output_tokens === 1 ? "token" : "tokens"}
        </span>
      )}
      <Group gap={4} ms="auto">
        {output !== undefined && request.response !== null && (
          <Group gap={0} role="group" aria-label="View of the response">
            {Object.entries(RESPONSE_VIEWS).map(([key, name]) => (
              <QuietButton key={key} selected={view === key} onClick={() => onView(key as ResponseView)}>
                {name}
              </QuietButton>
            ))}
          </Group>
        )}
        {output !== undefined && <CopyButton text={plainText(output)} label="response" />}
      </Group>
    </Group>
  );
}

/**
 * The finish reason of an output. It is a link that filters the log if it is also the finish reason of the request.
 */
function FinishReason({ reason, request }: { reason: string; request: RequestDetail }) {
  if (reason !== request.finish_reason) return <span>finish reason {reason}</span>;
  return (
    <FilterLink name="finish_reason" value={reason} className={pageCss.value}>
      finish reason {reason}
    </FilterLink>
  );
}

/** An error as it was sent, and its origin. */
function ErrorView({ raw }: { raw: unknown }) {
  const isOurs = objectOf(raw).type === "relay_error";
  return (
    <div className={css.error}>
      <span className="note">{isOurs ? "Error from Relaybook" : "Error from the upstream"}</span>
      {isContainer(raw) ? (
        <JsonText text={pretty(raw)} value={raw} />
      ) : (
        <LongText text={pretty(raw)} className={css.mono} />
      )}
    </div>
  );
}
