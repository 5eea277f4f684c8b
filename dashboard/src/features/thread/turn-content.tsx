/** The new messages and the response of a turn. */

import { Box } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { turnQuery } from "~/api/requests";
import { summarizeOutcome } from "~/domain/outcome";
import { MessageBody } from "~/features/conversation/message";
import { plainText, titleOf, toolResultOf, withoutAnsweredCalls } from "~/features/conversation/parts";
import { FailedMark } from "~/features/conversation/tools";
import {
  explainMissingConversation,
  explainMissingMessages,
  explainMissingResponse,
} from "~/features/conversation/unavailable";
import type { Message, RequestDetail } from "~/generated/api-types";
import { APIS } from "~/generated/vocabulary";
import { AppLink, logHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { Disclosure } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import css from "./conversation-view.module.css";
import type { Turn } from "./thread-model";
import { useOpenRequest } from "./use-thread-shortcuts";

/** The new messages of a request and its response. Previews are shown until the request is loaded. */
export function TurnTexts({ turn, isNear }: { turn: Turn; isNear: boolean }) {
  const { data, error, refetch } = useQuery({
    ...turnQuery(turn.row.id, turn.row.new_messages.from),
    enabled: isNear,
  });
  if (error !== null) {
    return (
      <p className="note" role="alert">
        The request could not be read: {error.message} <QuietButton onClick={() => void refetch()}>Retry</QuietButton>
      </p>
    );
  }
  if (data === undefined) return <PreviewBlock turn={turn} />;
  const reason = explainMissingConversation(data);
  if (reason !== undefined) return <p className="note">{reason}</p>;
  return (
    <>
      <NewMessages turn={turn} request={data} />
      <ResponseBlock request={data} />
    </>
  );
}

function NewMessages({ turn, request }: { turn: Turn; request: RequestDetail }) {
  const { row, isRepeated } = turn;
  if (isRepeated) return null;
  const isFirst = row.follows === null;
  const messages = request.messages ?? [];
  const added = withoutAnsweredCalls(messages, 0);
  // A request for another response to the same messages has no new message.
  if (added.length === 0) return isFirst ? <p className="note">{explainMissingMessages(request)}</p> : null;
  return added.map(({ message, at }) => (
    <TurnMessage key={at} message={message} messages={messages} isList={!APIS[request.kind].is_conversation} />
  ));
}

/** The response. If it is incomplete or failed, the outcome is also shown. */
export function ResponseBlock({ request }: { request: RequestDetail }) {
  const outputs = request.response?.outputs ?? [];
  const [output] = outputs;
  const { tone, text, more } = summarizeOutcome(request, EPOCH);
  const isComplete = request.outcome === "complete" && !request.failed;
  return (
    <MessageBlock by={responseBy(request.kind)} kind="output" isResponse>
      {output !== undefined && <MessageBody message={output} maxLines={MAX_LINES} isRendered />}
      {outputs.length > 1 && (
        <RequestLink id={request.id} className={pageCss.value}>
          output 1 of {outputs.length}
        </RequestLink>
      )}
      {!isComplete && (
        <Box component="p" className="wrap-anywhere" fz={13} data-tone={tone}>
          {text} {more}
        </Box>
      )}
      {isComplete && output === undefined && <p className="note">{explainMissingResponse(request)}</p>}
    </MessageBlock>
  );
}

/** The author of a response. */
function responseBy(kind: RequestDetail["kind"]): string {
  return APIS[kind].is_conversation ? "assistant" : "response";
}

/** Only the outcome of a running request depends on the time, and a thread has no running requests. */
const EPOCH = new Date(0);

/** Roles of instructions for the model. They are collapsed. */
const INSTRUCTION_ROLES = ["system", "developer"];
/** The number of lines that are shown of a message until it is expanded. */
const MAX_LINES = 20;
const MAX_IN_LINE = 160;

type TurnMessageProps = { message: Message; messages: readonly Message[]; isList: boolean };

/** A new message of a request. The result of a tool is shown below its call. */
export function TurnMessage({ message, messages, isList }: TurnMessageProps) {
  const title = titleOf(message);
  const result = toolResultOf(message);
  const content = <MessageBody message={message} messages={messages} maxLines={MAX_LINES} />;
  if (INSTRUCTION_ROLES.includes(title)) {
    return (
      <MessageBlock by={title} kind="internal">
        <Disclosure summary={<bdi className="ellipsis">{plainText(message).slice(0, MAX_IN_LINE)}</bdi>}>
          {content}
        </Disclosure>
      </MessageBlock>
    );
  }
  const isInput = message.role === "user" || isList;
  return (
    <MessageBlock
      by={isList ? "input" : (message.name ?? title)}
      kind={isInput ? "input" : result !== undefined ? "internal" : "output"}
      aside={<FailedMark part={result} />}
    >
      {content}
    </MessageBlock>
  );
}

type Props = {
  /** The role or the name of the author. */
  by: string;
  /** `internal` means instructions or results of tools. */
  kind: "input" | "output" | "internal";
  isResponse?: boolean;
  aside?: ReactNode;
  children: ReactNode;
};

/** A message with its author in the margin. */
export function MessageBlock({ by, kind, isResponse = false, aside, children }: Props) {
  return (
    <div className={css.message} data-response={isResponse || undefined}>
      <div className={css.author}>
        <h3>
          <bdi>{by}</bdi>
        </h3>
        {aside}
      </div>
      <div className={`${css.content} ${css[kind]}`}>{children}</div>
    </div>
  );
}

/** The maximum length of previews in the API. */
const PREVIEW_LENGTH = 200;

/** Until the request is loaded, its authors are unknown: the previews of message and response, as in the log. */
export function PreviewBlock({ turn }: { turn: Turn }) {
  const { input_preview, output_preview } = turn.row;
  const previews = [turn.isRepeated ? null : input_preview, output_preview];
  return previews.map(
    (preview, at) =>
      preview !== null && (
        // biome-ignore lint/suspicious/noArrayIndexKey: the message and the response
        <div key={at} className={css.message}>
          <div className={css.loading}>
            {preview.trim() === "" ? <span className={css.line} /> : <LongText text={withEllipsis(preview)} />}
          </div>
        </div>
      ),
  );
}

function withEllipsis(preview: string): string {
  return [...preview].length < PREVIEW_LENGTH ? preview : `${preview}…`;
}

type RequestLinkProps = { id: string; children: ReactNode; className?: string | undefined };

/** A link that opens a request of the thread next to the log. */
export function RequestLink({ id, children, className }: RequestLinkProps) {
  const search = useLogSearch();
  const open = useOpenRequest();
  return (
    <AppLink className={className} href={logHref(search, id)} onFollow={() => open(id)}>
      {children}
    </AppLink>
  );
}
