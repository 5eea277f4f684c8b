/** A button that copies a text. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { toClipboard } from "./clipboard";
import css from "./controls.module.css";

type Props = {
  /** The text to copy, or a function that returns the text when the button is clicked. */
  text: string | (() => string);
  /** The name of the text, for the accessible name: `Copy base URL`. */
  label: string;
  /** The text of the button. By default it has an icon. */
  children?: string;
};

const COPIED_MS = 2_000;

/**
 * A button that copies a text. If the browser blocks copying, the selected text is shown, so that the user can copy it
 * by keyboard.
 */
export function CopyButton({ text, label, children }: Props) {
  const textNow = () => (typeof text === "string" ? text : text());
  const [state, setState] = useState<"ready" | "copied" | "selected">("ready");

  const copy = () => {
    toClipboard(Promise.resolve(textNow())).then(
      () => {
        setState("copied");
        window.setTimeout(() => setState((current) => (current === "copied" ? "ready" : current)), COPIED_MS);
      },
      () => setState("selected"),
    );
  };

  return (
    <span className={css.copy}>
      {children === undefined ? (
        <button
          type="button"
          className={css.iconButton}
          aria-label={`Copy ${label}`}
          title={`Copy ${label}`}
          onClick={copy}
        >
          <CopyIcon isCopied={state === "copied"} />
        </button>
      ) : (
        <Button variant="default" size="compact-xs" onClick={copy}>
          <CopiedText text={children} copied="Copied" isCopied={state === "copied"} />
        </Button>
      )}
      {state === "selected" && (
        <span className={css.shown}>
          <textarea
            aria-label={`${label}, selected`}
            readOnly
            rows={Math.min(6, textNow().split("\n").length)}
            value={textNow()}
            ref={select}
            onBlur={() => setState("ready")}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              event.preventDefault();
              setState("ready");
            }}
          />
          Press Ctrl+C or ⌘C to copy.
        </span>
      )}
      <span className="visually-hidden" role="status">
        {state === "copied" && `Copied ${label}`}
        {state === "selected" && `Copying is blocked by the browser. Press Ctrl+C or ⌘C to copy ${label}.`}
      </span>
    </span>
  );
}

type CopiedTextProps = { text: string; copied: string; isCopied: boolean };

/** The text of a button that copies. It is as wide as the wider of its two texts, so that no button moves. */
export function CopiedText({ text, copied, isCopied }: CopiedTextProps) {
  return (
    <span className={css.copied} data-other={isCopied ? text : copied}>
      {isCopied ? copied : text}
    </span>
  );
}

function select(element: HTMLTextAreaElement | null): void {
  element?.focus();
  element?.select();
}

function CopyIcon({ isCopied }: { isCopied: boolean }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="14"
      height="14"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    >
      {isCopied ? <path d="m3 8.5 3.5 3.5L13 4.5" /> : <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />}
    </svg>
  );
}
