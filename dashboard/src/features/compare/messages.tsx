/** Messages, outputs and tools that differ. Equal messages are folded. */

import { plural } from "~/format/number";
import type { MessageDifference, TextDifference, ToolDifference } from "~/generated/api-types";
import css from "./compare.module.css";
import { TextDifferenceView } from "./text-difference";
import { Parameters } from "./values";

const ONLY_IN = { removed: "only in A", added: "only in B" } as const;

/** The messages that differ, and the number of equal messages between them. */
export function Messages({ differences }: { differences: readonly MessageDifference[] }) {
  return differences.map((difference) => {
    const { kind, a, b, count: messages = 1, role, name, text, fields = [] } = difference;
    const key = `${a ?? ""}/${b ?? ""}`;
    if (kind === "equal" || kind === "more") {
      return (
        <p key={key} className={css.fold}>
          {plural(messages, kind === "equal" ? "equal message" : "more different message")}
        </p>
      );
    }
    return (
      <article key={key} className={css.message}>
        <Title name={[role, name].filter(Boolean).join(" ") || "–"} kind={kind} />
        {text && <TextDifferenceView difference={text} isMono={role === "tool" || hasCode(text)} />}
        {fields.length > 0 && <Parameters values={fields} />}
      </article>
    );
  });
}

/** Return whether a difference has a block of code in Markdown. */
function hasCode({ pieces }: TextDifference): boolean {
  return pieces.some(({ text, end }) => text?.includes("```") || end?.includes("```"));
}

/** The tools that differ. */
export function Tools({ tools }: { tools: readonly ToolDifference[] }) {
  return tools.map(({ name, kind, text }) => (
    <article key={name} className={css.message}>
      <Title name={name} kind={kind} isMono />
      {text && <TextDifferenceView difference={text} isMono />}
    </article>
  ));
}

function Title({ name, kind, isMono = false }: { name: string; kind: MessageDifference["kind"]; isMono?: boolean }) {
  return (
    <h3 className={css.messageTitle}>
      <bdi className={isMono ? "mono" : undefined}>{name}</bdi>
      {(kind === "removed" || kind === "added") && <span className="muted"> · {ONLY_IN[kind]}</span>}
    </h3>
  );
}
