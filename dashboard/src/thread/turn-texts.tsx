import { useQuery } from "@tanstack/react-query";
import { requestQuery } from "~/api/requests";
import { messagesOf } from "~/features/conversation/message-model";
import { whyNoMessages, whyNothing } from "~/features/conversation/unavailable";
import type { RequestDetail } from "~/generated/api-types";
import { QuietButton } from "~/ui/quiet-button";
import { AnswerLetter } from "./answer-letter";
import type { Turn } from "./conversations";
import css from "./letters.module.css";
import { MessageLetter } from "./message-letter";
import { Preview } from "./preview";

/** What is new in a request, and its answer: until they are read whole, their beginnings. */
export function TurnTexts({ turn, isNear }: { turn: Turn; isNear: boolean }) {
  const { data, error, refetch } = useQuery({ ...requestQuery(turn.row.id), enabled: isNear });
  if (error !== null) {
    return (
      <p className={css.words} role="alert">
        The request could not be read: {error.message} <QuietButton onClick={() => void refetch()}>again</QuietButton>
      </p>
    );
  }
  if (data === undefined) return <Preview turn={turn} />;
  const nothing = whyNothing(data);
  if (nothing !== undefined) return <p className={css.words}>{nothing}</p>;
  return (
    <>
      <NewMessages turn={turn} request={data} />
      <AnswerLetter request={data} />
    </>
  );
}

function NewMessages({ turn, request }: { turn: Turn; request: RequestDetail }) {
  const { row, isSaid } = turn;
  if (isSaid) return null;
  const isFirst = row.follows === null;
  const messages = messagesOf(
    request.messages?.slice(row.new_messages.from) ?? null,
    isFirst ? request.parameters : null,
  );
  // Who asks for another answer to the same conversation says nothing new.
  if (messages.length === 0) return isFirst ? <p className={css.words}>{whyNoMessages(request)}</p> : null;
  return messages.map((message, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a request's messages never change
    <MessageLetter key={index} message={message} isList={request.kind === "embedding"} />
  ));
}
