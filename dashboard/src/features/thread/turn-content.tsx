/** The new messages and the response of a turn. */

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { requestQuery } from "~/api/requests";
import { summarizeOutcome } from "~/domain/outcome";
import { ChoiceView } from "~/features/conversation/choice";
import { MessageBody } from "~/features/conversation/message";
import {
  describeEmbeddings,
  type Message,
  normalizeChoices,
  normalizeMessages,
  plainText,
} from "~/features/conversation/message-model";
import {
  explainMissingConversation,
  explainMissingMessages,
  explainMissingResponse,
} from "~/features/conversation/unavailable";
import { bytes, shortenMiddle } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { AppLink, logHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { Disclosure } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import { QuietButton } from "~/ui/quiet-button";
import css from "./conversation-view.module.css";
import type { Turn } from "./thread-model";
import { useOpenRequest } from "./use-thread-shortcuts";

/** What is new in a request, and its answer: until they are read whole, their beginnings. */
export function TurnTexts({ turn, isNear }: { turn: Turn; isNear: boolean }) {
  const { data, error, refetch } = useQuery({ ...requestQuery(turn.row.id), enabled: isNear });
  if (error !== null) {
    return (
      <p className={css.note} role="alert">
        The request could not be read: {error.message} <QuietButton onClick={() => void refetch()}>Retry</QuietButton>
      </p>
    );
  }
  if (data === undefined) return <PreviewBlock turn={turn} />;
  const nothing = explainMissingConversation(data);
  if (nothing !== undefined) return <p className={css.note}>{nothing}</p>;
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
  const messages = normalizeMessages(
    request.messages?.slice(row.new_messages.from) ?? null,
    isFirst ? request.parameters : null,
  );
  // Who asks for another answer to the same conversation says nothing new.
  if (messages.length === 0) return isFirst ? <p className={css.note}>{explainMissingMessages(request)}</p> : null;
  return messages.map((message, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a request's messages never change
    <TurnMessage key={index} message={message} isList={request.kind === "embedding"} />
  ));
}

/** What was answered; where that is not all, how it ended. */
export function ResponseBlock({ request }: { request: RequestDetail }) {
  const vectors = describeEmbeddings(request.answer);
  const choices = vectors === undefined ? normalizeChoices(request.answer) : [];
  const [choice] = choices;
  const { tone, text } = summarizeOutcome(request, EPOCH);
  const isWhole = request.outcome === "complete" && !request.failed;
  return (
    <MessageBlock by={vectors === undefined ? "assistant" : "answer"} kind="answered">
      {choice !== undefined && (
        <CollapsedText text={plainText(choice)}>
          <ChoiceView choice={choice} isRendered isGrowing={false} />
        </CollapsedText>
      )}
      {vectors !== undefined && <p className={css.note}>{vectors}</p>}
      {choices.length > 1 && (
        <RequestLink id={request.id} className={css.value}>
          choice 1 of {choices.length}
        </RequestLink>
      )}
      {!isWhole && <p className={`${css.ending} ${css[tone]}`}>{text}</p>}
      {isWhole && choice === undefined && vectors === undefined && (
        <p className={css.note}>{explainMissingResponse(request)}</p>
      )}
    </MessageBlock>
  );
}

/** Only running requests are told by the clock, and none of them is here. */
const EPOCH = new Date(0);

/** Whoever tells the model how to behave: seldom what is read for. */
const SETTERS = ["system", "developer", "instructions"];
const PROGRAMS = ["tool", "function"];
const MAX_IN_MARGIN = 13;
const MAX_IN_LINE = 160;

/** A message that a request has and the ones before it had not. */
export function TurnMessage({ message, isList }: { message: Message; isList: boolean }) {
  const { role, name, callId } = message;
  const text = plainText(message);
  const whole = (
    <CollapsedText text={text}>
      <MessageBody message={message} />
    </CollapsedText>
  );
  if (SETTERS.includes(role)) {
    return (
      <MessageBlock by={role} kind="between">
        <Disclosure summary={<bdi className={css.summary}>{text.slice(0, MAX_IN_LINE)}</bdi>}>{whole}</Disclosure>
      </MessageBlock>
    );
  }
  const isAsked = role === "user" || isList;
  return (
    <MessageBlock
      by={isList ? "text" : (name ?? role)}
      kind={isAsked ? "asked" : PROGRAMS.includes(role) ? "between" : "answered"}
      aside={
        callId !== undefined && (
          <span className={css.call} title={callId}>
            {shortenMiddle(callId, MAX_IN_MARGIN)}
          </span>
        )
      }
    >
      {whole}
    </MessageBlock>
  );
}

type Props = {
  /** Who says it. */
  by: string;
  /** What was asked, what was answered, or what programs said to each other. */
  kind: "asked" | "answered" | "between";
  aside?: ReactNode;
  children: ReactNode;
};

/** What one of them said: who in the margin, what beside it. */
export function MessageBlock({ by, kind, aside, children }: Props) {
  return (
    <div className={css.letter}>
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

/** How long the API makes the beginnings of texts. */
const CUT = 200;

/** The beginnings of what was asked and answered, as the log has them. */
export function PreviewBlock({ turn }: { turn: Turn }) {
  const { input_preview, output_preview, kind } = turn.row;
  return (
    <>
      {input_preview !== null && !turn.isRepeated && (
        <MessageBlock by="user" kind="asked">
          <LongText text={told(input_preview)} />
        </MessageBlock>
      )}
      {output_preview !== null && (
        <MessageBlock by={kind === "embedding" ? "answer" : "assistant"} kind="answered">
          <LongText text={told(output_preview)} />
        </MessageBlock>
      )}
    </>
  );
}

function told(preview: string): string {
  return [...preview].length < CUT ? preview : `${preview}…`;
}

const MAX_LETTERS = 2_400;
const MAX_LINES = 30;

/** Of a long text so much that one sees what it is about; the rest on demand. `text`: what is shown in it. */
export function CollapsedText({ text, children }: { text: string; children: ReactNode }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > MAX_LETTERS || text.split("\n", MAX_LINES + 1).length > MAX_LINES;
  if (!isLong || isWhole) return children;
  return (
    <>
      {/* What takes the focus in it must be seen. */}
      <div className={css.clamp} onFocusCapture={() => setWhole(true)}>
        {children}
      </div>
      <div className={css.more}>
        <QuietButton onClick={() => setWhole(true)}>… show all ({bytes(text.length)})</QuietButton>
      </div>
    </>
  );
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
