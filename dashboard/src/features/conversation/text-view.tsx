/** A text of a message or an output: as Markdown, as JSON, or as it is. */

import { Suspense, useMemo, useState } from "react";
import { beginsLikeJson, type JsonObject, wholeJson } from "~/domain/json";
import { JsonTree } from "~/ui/json-tree";
import { lazyPart } from "~/ui/lazy-part";
import { LongText } from "~/ui/long-text";
import { QuietButton } from "~/ui/quiet-button";
import css from "./conversation.module.css";

/** Renders Markdown. If its code cannot be loaded, the text is shown as it is. */
const Markdown = lazyPart<{ text: string }>(() => import("./markdown").then(({ Markdown }) => Markdown), LongText);

/** Longer texts are not rendered as Markdown, because this would block the page. */
const MAX_RENDERED = 100_000;
/** The lines of JSON that are open at first, where other texts are shown whole. */
const MAX_JSON_LINES = 400;

type Props = {
  text: string;
  /** Whether the text is Markdown, unless it is JSON. */
  isMarkdown?: boolean;
  /** Whether the text is shown in a monospaced font. */
  isMono?: boolean;
  maxLines: number | undefined;
  /** Whether JSON has no button that shows it as text. */
  isTree?: boolean | undefined;
};

/** A text. A text that is JSON as a whole is shown as a tree, and never as Markdown, even if it is not complete. */
export function TextView({ text, isMarkdown = false, isMono = false, maxLines, isTree }: Props) {
  const value = useMemo(() => wholeJson(text), [text]);
  if (value !== undefined) return <JsonText text={text} value={value} maxLines={maxLines} isTree={isTree} />;
  if (isMono || beginsLikeJson(text)) return <LongText text={text} maxLines={maxLines} className={css.mono} />;
  if (!isMarkdown || text.length > MAX_RENDERED) return <LongText text={text} />;
  return (
    <Suspense fallback={<LongText text={text} />}>
      <Markdown text={text} />
    </Suspense>
  );
}

type JsonTextProps = {
  text: string;
  value: JsonObject | readonly unknown[];
  maxLines?: number | undefined;
  /** Whether there is another way to show the text. */
  isTree?: boolean | undefined;
};

/** JSON as a tree. The text as it was sent is shown on demand. */
export function JsonText({ text, value, maxLines, isTree = false }: JsonTextProps) {
  const [isPlain, setPlain] = useState(false);
  return (
    <div className={css.json}>
      {!isTree && (
        <QuietButton selected={isPlain} onClick={() => setPlain(!isPlain)}>
          As text
        </QuietButton>
      )}
      {isPlain ? (
        <LongText text={text} maxLines={maxLines} className={css.mono} />
      ) : (
        <JsonTree value={value} maxLines={maxLines ?? MAX_JSON_LINES} />
      )}
    </div>
  );
}
