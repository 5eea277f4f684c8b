/** One choice of a response. */

import { Suspense } from "react";
import { count } from "~/format/number";
import { Disclosure } from "~/ui/disclosure";
import { lazyPart } from "~/ui/lazy-part";
import { LongText } from "~/ui/long-text";
import css from "./conversation.module.css";
import { ToolCallView } from "./message";
import type { Choice } from "./message-model";

/** Renders Markdown. If its code cannot be loaded, the text is shown as it is. */
const Markdown = lazyPart<{ text: string }>(() => import("./markdown").then(({ Markdown }) => Markdown), LongText);

/** Longer texts are not rendered as Markdown, because this would block the page. */
const MAX_RENDERED = 100_000;

/** One choice. With `isGrowing`, more of the choice will arrive. */
export function ChoiceView({
  choice,
  isRendered,
  isGrowing,
}: {
  choice: Choice;
  isRendered: boolean;
  isGrowing: boolean;
}) {
  const { text, reasoning, refusal, calls } = choice;
  const plain = text === undefined ? null : <LongText text={text} />;
  return (
    <div className={css.content}>
      {reasoning !== undefined && (
        <Disclosure summary={`Reasoning, ${count(reasoning.length)} characters`}>
          <LongText text={reasoning} className={css.reasoning} />
        </Disclosure>
      )}
      {text !== undefined && isRendered && text.length <= MAX_RENDERED ? (
        <Suspense fallback={plain}>
          <Markdown text={text} />
        </Suspense>
      ) : (
        plain
      )}
      {refusal !== undefined && (
        <div>
          <span className="note">Refusal</span>
          <LongText text={refusal} />
        </div>
      )}
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: ids of calls may be missing or the same
        <ToolCallView key={index} call={call} />
      ))}
      {isGrowing ? (
        <span className={css.growing} aria-hidden="true">
          ▍
        </span>
      ) : (
        text === undefined &&
        reasoning === undefined &&
        refusal === undefined &&
        calls.length === 0 && <p className="note">(empty)</p>
      )}
    </div>
  );
}
