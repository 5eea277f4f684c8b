/** Calls of tools and their results. */

import { Group } from "@mantine/core";
import { wholeJson } from "~/domain/json";
import type { Part } from "~/generated/api-types";
import { Disclosure } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import css from "./conversation.module.css";
import { OtherFields } from "./other-fields";
import { argumentsLine, toolName } from "./parts";
import { JsonText, TextView } from "./text-view";

const MAX_IN_LINE = 400;
const MAX_LINES = 20;

/** A tool call on one line, expanded on demand. Arguments that are not valid JSON are shown unchanged. */
export function ToolCall({ part }: { part: Part }) {
  const { id, other } = part;
  const text = part.arguments ?? "";
  const line = argumentsLine(text);
  const value = wholeJson(text);
  return (
    <Disclosure
      summary={
        <Group component="span" align="baseline" gap={12} wrap="nowrap" miw={0}>
          <span className={`${css.mono} ${css.called}`} data-call="">
            ƒ <strong>{toolName(part)}</strong>(<bdi>{line.slice(0, MAX_IN_LINE)}</bdi>
            {line.length > MAX_IN_LINE && "…"})
          </span>
          {id && (
            <span className={`${css.mono} ${css.callId}`} title={id}>
              {id}
            </span>
          )}
        </Group>
      }
    >
      {value === undefined ? (
        <LongText text={text} maxLines={MAX_LINES} className={css.mono} />
      ) : (
        <JsonText text={text} value={value} maxLines={MAX_LINES} />
      )}
      <OtherFields fields={other} />
    </Disclosure>
  );
}

type ToolResultProps = {
  part: Part;
  /** The call, if it is not shown elsewhere. */
  call: Part | undefined;
  maxLines: number | undefined;
};

/** The result of a tool, below its call. */
export function ToolResult({ part, call, maxLines = MAX_LINES }: ToolResultProps) {
  const { text, other } = part;
  return (
    <>
      {call !== undefined && <ToolCall part={call} />}
      {text && <TextView text={text} isMono maxLines={maxLines} />}
      <OtherFields fields={other} />
    </>
  );
}

/** Says that a result looks like an error. */
export function FailedMark({ part }: { part: Part | undefined }) {
  if (!part?.failed) return null;
  return (
    <span data-tone="bad">
      <span aria-hidden="true">✗ </span>error
    </span>
  );
}
