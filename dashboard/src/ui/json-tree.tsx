/** JSON as a tree. Its objects and lists fold. */

import { memo, useContext, useMemo, useState } from "react";
import { exactNumber, isContainer, wholeJson } from "~/domain/json";
import { firstHit } from "~/domain/search-pattern";
import { plural } from "~/format/number";
import { HighlightContext, Highlighted } from "./highlight";
import css from "./json-tree.module.css";
import { LongText } from "./long-text";
import { QuietButton } from "./quiet-button";

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

type TreeProps = {
  value: Container;
  /** Objects and lists are open at first as long as the open ones have no more lines than this. */
  maxLines: number;
};

/** An object or a list. Strings that contain JSON are shown as JSON, too. */
export const JsonTree = memo(function JsonTree({ value, maxLines }: TreeProps) {
  const pattern = useContext(HighlightContext);
  const open = useMemo(() => initiallyOpen(value, maxLines, pattern), [value, maxLines, pattern]);
  return (
    <div className={css.tree} dir="ltr">
      <Node value={value} open={open} blockLines={Math.min(MAX_BLOCK_LINES, Math.ceil(maxLines / 2))} isLast />
    </div>
  );
});

/** The number of items of an object or a list that are shown at once. */
const STEP = 100;
/** Larger values are not searched. */
const MAX_SEARCHED = 200_000;

/** The objects and lists that are open at first: outer before inner, and those with a match of the search. */
export function initiallyOpen(root: Container, maxLines: number, pattern?: RegExp): ReadonlySet<unknown> {
  const isSearched = pattern !== undefined && JSON.stringify(root).length <= MAX_SEARCHED;
  const open = new Set<unknown>();
  const queue: unknown[] = [root];
  let lines = 1;
  for (const value of queue) {
    if (!isContainer(value)) continue;
    const items = Object.values(value).slice(0, STEP);
    const fits = lines + items.length + 1 <= maxLines;
    const hasHit = isSearched && firstHit(JSON.stringify(value), pattern) !== -1;
    if (value !== root && !fits && !hasHit) continue;
    open.add(value);
    lines += items.length + 1;
    queue.push(...items);
  }
  return open;
}

type NodeProps = {
  name?: string;
  value: unknown;
  open: ReadonlySet<unknown>;
  /** The number of lines that are shown of a long text in a string. */
  blockLines: number;
  /** Whether no comma follows. */
  isLast: boolean;
};

function Node(props: NodeProps) {
  const { name, value, blockLines, isLast } = props;
  if (isContainer(value) && !isShort(value)) return <ContainerNode {...props} value={value} />;
  return (
    <div className={css.line}>
      {name !== undefined && <Name name={name} />}
      {typeof value === "string" ? (
        <Text text={value} blockLines={blockLines} isLast={isLast} />
      ) : (
        <span className={css.other}>
          <Highlighted text={`${oneLine(value)}${isLast ? "" : ","}`} />
        </span>
      )}
    </div>
  );
}

function Name({ name }: { name: string }) {
  return (
    <>
      <span className={css.name}>
        <Highlighted text={JSON.stringify(name)} />
      </span>
      :{" "}
    </>
  );
}

/** A value on one line, with spaces as people write them. */
function oneLine(value: unknown): string {
  if (!isContainer(value)) return exactNumber(value) ?? String(JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${oneLine(item)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

const MAX_SHORT = 60;

/** Whether an object or a list is shown on one line: it has only a few numbers and short texts of one line. */
function isShort(value: Container): boolean {
  const items = Object.values(value);
  const hasBlock = items.some((item) => isContainer(item) || (typeof item === "string" && /\n|^\s*[{[]/.test(item)));
  return items.length <= 12 && !hasBlock && oneLine(value).length <= MAX_SHORT;
}

function ContainerNode({ name, value, open, blockLines, isLast }: NodeProps & { value: Container }) {
  const [isOpen, setOpen] = useState(open.has(value));
  const [shown, setShown] = useState(STEP);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [start, end] = isList ? ["[", "]"] : ["{", "}"];
  const hidden = entries.length - shown;
  return (
    <div>
      <button type="button" className={css.head} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {name !== undefined && <Name name={name} />}
        {isOpen ? start : `${start}…${end}${isLast ? "" : ","}`}
        {!isOpen && <span className={css.size}>{plural(entries.length, isList ? "item" : "field")}</span>}
      </button>
      {isOpen && (
        <>
          <div className={css.inside}>
            {entries.slice(0, shown).map(([key, item], index) => (
              <Node
                key={key}
                {...(isList ? {} : { name: key })}
                value={item}
                open={open}
                blockLines={blockLines}
                isLast={index === entries.length - 1}
              />
            ))}
            {hidden > 0 && (
              <QuietButton onClick={() => setShown(shown + STEP)}>
                … Show {Math.min(STEP, hidden)} more of {plural(hidden, "item")}
              </QuietButton>
            )}
          </div>
          <div className={css.line}>
            {end}
            {!isLast && ","}
          </div>
        </>
      )}
    </div>
  );
}

/** Longer texts are blocks below their name. */
const MAX_IN_LINE = 400;
const MAX_BLOCK_LINES = 20;

type TextProps = { text: string; blockLines: number; isLast: boolean };

/** A string: in quotes, or as the lines or the JSON that it contains. */
function Text({ text, blockLines, isLast }: TextProps) {
  const inner = useMemo(() => wholeJson(text), [text]);
  if (inner !== undefined && Object.keys(inner).length > 0) {
    return (
      <>
        <span className={css.hint}>text with JSON</span>
        <div className={css.block}>
          <JsonTree value={inner} maxLines={blockLines} />
        </div>
      </>
    );
  }
  if (text.length <= MAX_IN_LINE && !text.includes("\n")) {
    return (
      <span className={css.text}>
        <Highlighted text={`${JSON.stringify(text)}${isLast ? "" : ","}`} />
      </span>
    );
  }
  return (
    <div className={css.block}>
      <LongText text={text} maxLines={blockLines} className={css.text} />
    </div>
  );
}
