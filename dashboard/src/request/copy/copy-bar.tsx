import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { RequestDetail } from "~/generated/api-types";
import { toClipboard } from "~/ui/clipboard";
import { QuietButton } from "~/ui/quiet-button";
import css from "./copy-bar.module.css";
import { type Copied, copiedAs, FORMS, type Form } from "./forms";
import { SelectedText } from "./selected-text";

type Told =
  | { state: "copied"; form: Form; note: string | undefined }
  | { state: "selected"; form: Form; copied: Copied }
  | { state: "failed"; form: Form; message: string };

const TOLD_MS = 2_500;

/** Copies the request as a link, a command, a script or JSON. */
export function CopyBar({ request }: { request: RequestDetail | undefined }) {
  const client = useQueryClient();
  const [told, setTold] = useState<Told>();

  const tell = (now: Told) => {
    setTold(now);
    const isOver = now.state === "copied" && now.note === undefined;
    if (isOver) window.setTimeout(() => setTold((then) => (then === now ? undefined : then)), TOLD_MS);
  };

  const copy = async (form: Form, from: RequestDetail) => {
    const made = copiedAs(form, from, client);
    try {
      await toClipboard(made.then(({ text }) => text));
      tell({ state: "copied", form, note: (await made).note });
    } catch {
      made.then(
        (copied) => tell({ state: "selected", form, copied }),
        (error: Error) => tell({ state: "failed", form, message: error.message }),
      );
    }
  };

  return (
    <fieldset className={css.copies} aria-label="Copy the request">
      <span className={css.word}>copy:</span>
      {FORMS.map((form) => {
        const isTold = told?.state === "copied" && told.form === form;
        return (
          <QuietButton
            key={form}
            label={isTold ? `Copied as ${form}` : `Copy as ${form}`}
            isOff={request === undefined}
            onClick={() => request !== undefined && void copy(form, request)}
          >
            {isTold ? "copied" : form}
          </QuietButton>
        );
      })}
      <span className="unseen" role="status">
        {told?.state === "copied" && `Copied as ${told.form}. ${told.note ?? ""}`}
      </span>
      {told?.state === "selected" && (
        <SelectedText
          name={told.form}
          text={told.copied.text}
          note={told.copied.note}
          onDone={() => setTold(undefined)}
        />
      )}
      {told?.state === "copied" && told.note !== undefined && (
        <p className={css.note} aria-hidden="true">
          {told.note} <QuietButton onClick={() => setTold(undefined)}>✕</QuietButton>
        </p>
      )}
      {told?.state === "failed" && (
        <p className={css.note} role="alert">
          {told.form} could not be made: {told.message}
        </p>
      )}
    </fieldset>
  );
}
