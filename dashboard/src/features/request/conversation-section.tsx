/** The section with messages and response. */

import { Box, Group, Stack } from "@mantine/core";
import { useContext, useState } from "react";
import { firstHit, searchPattern } from "~/domain/search-pattern";
import css from "~/features/conversation/conversation.module.css";
import { MessageBody } from "~/features/conversation/message";
import { plainText, titleOf, toolResultOf, withoutAnsweredCalls } from "~/features/conversation/parts";
import { FailedMark } from "~/features/conversation/tools";
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
import { type Origin, type TurnPosition, turnOfMessage } from "./turn-position";

type ConversationProps = { request: RequestDetail; view: ResponseView; onView: (view: ResponseView) => void };

/** Messages and response, in order. Matches of the log's search are marked. */
export function Conversation({ request, view, onView }: ConversationProps) {
  const position = useTurn(request);
  const pattern = searchPattern(useLogSearch().filter);
  const reason = explainMissingConversation(request);
  if (reason !== undefined) return <p className="note">{reason}</p>;
  const messages = request.messages ?? [];
  return (
    <HighlightContext value={pattern}>
      <Stack gap={10}>
        {messages.length > 0 ? (
          <Messages
            messages={messages}
            isList={!APIS[request.kind].is_conversation}
            isRendered={view === "rendered"}
            position={position}
          />
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
/** The lines that all shown messages have together, so that the response is on the first screen, and each at least. */
const LINES = 20;
const MIN_LINES = 5;

type MessagesProps = {
  messages: readonly Message[];
  /** Whether the messages are a list of inputs and not a conversation. */
  isList: boolean;
  /** Whether texts of the assistant are rendered. */
  isRendered: boolean;
  position: TurnPosition | undefined;
};

/** The messages of a request. Earlier messages are shown on demand, or if the search matches one of them. */
function Messages({ messages, isList, isRendered, position }: MessagesProps) {
  const [isWhole, setWhole] = useState<boolean>();
  const pattern = useContext(HighlightContext);
  // At least the last message is shown.
  const before = Math.min(position?.earlierMessages ?? 0, messages.length - 1);
  const shown = before === 0 ? SHOWN : SHOWN_NEW;
  const hidden = Math.max(before, messages.length - shown, 0);
  const hasHit =
    pattern !== undefined && messages.slice(0, hidden).some((message) => firstHit(plainText(message), pattern) !== -1);
  const areEarlierShown = isWhole ?? hasHit;
  const arranged = withoutAnsweredCalls(messages, areEarlierShown ? 0 : hidden);
  const maxLines = Math.max(MIN_LINES, Math.floor(LINES / withoutAnsweredCalls(messages, hidden).length));
  const origins = position?.origins ?? [];
  const toggle = (
    <EarlierToggle
      count={hidden}
      isList={isList}
      turns={hidden === before ? turnsOf(origins, before) : undefined}
      isOpen={areEarlierShown}
      onToggle={() => setWhole(!areEarlierShown)}
    />
  );
  const views = arranged.map(({ message, at }) => (
    <MessageView
      key={at}
      message={message}
      messages={messages}
      title={isList ? inputTitle(at, messages.length) : titleOf(message)}
      note={at < before ? turnOfMessage(origins, at) : undefined}
      maxLines={maxLines}
      isRendered={isRendered && message.role === "assistant"}
    />
  ));
  const earlier = arranged.filter(({ at }) => at < hidden).length;
  return (
    <>
      {hidden > 0 && toggle}
      {views.slice(0, earlier)}
      {earlier > LONG_LIST && toggle}
      {views.slice(earlier)}
    </>
  );
}

/** After more earlier messages than this, a second button hides them. */
const LONG_LIST = 3;

type EarlierToggleProps = {
  count: number;
  isList: boolean;
  turns: string | undefined;
  isOpen: boolean;
  onToggle: () => void;
};

/** The button that shows the earlier messages, and hides them again. */
function EarlierToggle({ count, isList, turns, isOpen, onToggle }: EarlierToggleProps) {
  return (
    <Box ms={-7}>
      <QuietButton aria-expanded={isOpen} onClick={onToggle}>
        <span aria-hidden="true">{isOpen ? "▾ " : "▸ "}</span>
        {isOpen ? "Hide" : "Show"} {plural(count, `earlier ${isList ? "input" : "message"}`)}
        {turns !== undefined && `, ${turns}`}
      </QuietButton>
    </Box>
  );
}

/** The turns of the first messages: `turn 1`, `turns 1 to 4`. */
function turnsOf(origins: readonly Origin[], count: number): string | undefined {
  const last = origins.find(({ from }) => from < count);
  const first = origins.at(-1);
  if (last === undefined || first === undefined) return first && `before turn ${first.turn}`;
  const start = first.from > 0 ? 1 : first.turn;
  return start === last.turn ? `turn ${start}` : `turns ${start} to ${last.turn}`;
}

function inputTitle(index: number, inputs: number): string {
  return inputs === 1 ? "input" : `input ${index + 1}`;
}

type MessageViewProps = {
  message: Message;
  messages: readonly Message[];
  title: string;
  /** A note beside the title. */
  note: string | undefined;
  maxLines: number;
  isRendered: boolean;
};

/** One message. The result of a tool is shown below its call. */
function MessageView({ message, messages, title, note, maxLines, isRendered }: MessageViewProps) {
  const result = toolResultOf(message);
  return (
    <article className={css.message} aria-label={title}>
      <Group component="header" className="muted" gap="0 10px" mih={26}>
        <h3 className={css.role}>
          <bdi>{title}</bdi>
        </h3>
        {message.name && <bdi>{message.name}</bdi>}
        <FailedMark part={result} />
        {note !== undefined && <span>{note}</span>}
        <Group ms="auto">
          <CopyButton text={plainText(message)} label={`message of ${title}`} />
        </Group>
      </Group>
      <MessageBody message={message} messages={messages} maxLines={maxLines} isRendered={isRendered} />
    </article>
  );
}
