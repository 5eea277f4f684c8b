/** The section with messages and response. */

import { Box, Group, Stack } from "@mantine/core";
import { useContext, useState } from "react";
import { firstHit, searchPattern } from "~/domain/search-pattern";
import css from "~/features/conversation/conversation.module.css";
import { MessageBody } from "~/features/conversation/message";
import { plainText, titleOf, toolResultOf } from "~/features/conversation/parts";
import { explainMissingConversation, explainMissingMessages } from "~/features/conversation/unavailable";
import { plural } from "~/format/number";
import type { Message, RequestDetail } from "~/generated/api-types";
import { APIS } from "~/generated/vocabulary";
import { useLogSearch } from "~/navigation/search-context";
import { CopyButton } from "~/ui/copy-button";
import { HighlightContext } from "~/ui/highlight";
import { QuietButton } from "~/ui/quiet-button";
import { ResponseSection, type ResponseView } from "./response-section";
import { useTurn } from "./turn-navigation";
import type { TurnPosition } from "./turn-position";

type ConversationProps = { request: RequestDetail; view: ResponseView; onView: (view: ResponseView) => void };

/** The previous turn and its number of messages. */
function earlierTurnOf(position: TurnPosition | undefined): { count: number; turn: number } | undefined {
  return position === undefined || position.earlierMessages === 0
    ? undefined
    : { count: position.earlierMessages, turn: position.turn - 1 };
}

/** Messages and response, in order. Matches of the log's search are marked. */
export function Conversation({ request, view, onView }: ConversationProps) {
  const position = useTurn(request);
  const pattern = searchPattern(useLogSearch().filter);
  const reason = explainMissingConversation(request);
  if (reason !== undefined) return <p className="note">{reason}</p>;
  const messages = request.messages ?? [];
  const earlierTurn = earlierTurnOf(position);
  return (
    <HighlightContext value={pattern}>
      <Stack gap={10}>
        {messages.length > 0 ? (
          <Messages messages={messages} isList={!APIS[request.kind].is_conversation} earlierTurn={earlierTurn} />
        ) : (
          <p className="note">
            {(request.outcome === "open" ? request.input_preview : null) ?? explainMissingMessages(request)}
          </p>
        )}
        <ResponseSection request={request} view={view} onView={onView} />
      </Stack>
    </HighlightContext>
  );
}

/** The number of last messages that are shown. More are shown if they are new in this turn. */
const SHOWN = 3;
const SHOWN_NEW = 20;

type MessagesProps = {
  messages: readonly Message[];
  /** Whether the messages are a list of inputs and not a conversation. */
  isList: boolean;
  /** The previous turn and its number of messages. */
  earlierTurn: { count: number; turn: number } | undefined;
};

/** The messages of a request. Earlier messages are shown on demand, or if the search matches one of them. */
function Messages({ messages, isList, earlierTurn }: MessagesProps) {
  const [isWhole, setWhole] = useState(false);
  const pattern = useContext(HighlightContext);
  // At least the last message is shown.
  const before = Math.min(earlierTurn?.count ?? 0, messages.length - 1);
  const shown = before === 0 ? SHOWN : SHOWN_NEW;
  const hidden = Math.max(before, messages.length - shown, 0);
  const hasHit =
    pattern !== undefined && messages.slice(0, hidden).some((message) => firstHit(plainText(message), pattern) !== -1);
  const earlier = isWhole || hasHit ? 0 : hidden;
  const kind = isList ? "input" : "message";
  const seenText = earlierTurn === undefined ? "" : `seen in turn ${earlierTurn.turn}`;
  return (
    <>
      {earlier > 0 && (
        <Box ms={-7}>
          <QuietButton onClick={() => setWhole(true)}>
            <span aria-hidden="true">▸ </span>
            {plural(earlier, `earlier ${kind}`)}
            {earlier === before && `, ${seenText}`} · show
          </QuietButton>
        </Box>
      )}
      {messages.slice(earlier).map((message, index) => (
        <MessageView
          // biome-ignore lint/suspicious/noArrayIndexKey: a request's messages never change
          key={earlier + index}
          message={message}
          title={isList ? inputTitle(earlier + index, messages.length) : titleOf(message)}
          note={earlierTurn !== undefined && earlier + index < earlierTurn.count ? seenText : undefined}
        />
      ))}
    </>
  );
}

function inputTitle(index: number, inputs: number): string {
  return inputs === 1 ? "input" : `input ${index + 1}`;
}

type MessageViewProps = {
  message: Message;
  title: string;
  /** A note beside the title. */
  note: string | undefined;
};

/** One message, as it was sent. */
function MessageView({ message, title, note }: MessageViewProps) {
  const result = toolResultOf(message);
  const name = message.name ?? result?.name;
  return (
    <article className={css.message} aria-label={title}>
      <Group component="header" className="muted" gap="0 10px" mih={26}>
        <h3 className={css.role}>{title}</h3>
        {name && <bdi>{name}</bdi>}
        {result?.id && <span className={css.mono}>{result.id}</span>}
        {note !== undefined && <span>{note}</span>}
        <Group ms="auto">
          <CopyButton text={plainText(message)} label={`message of ${title}`} />
        </Group>
      </Group>
      <MessageBody message={message} />
    </article>
  );
}
