/** Copy a request as curl, Python, Node or JSON. */

import { Group, Paper, Textarea } from "@mantine/core";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { apiUrl, getText } from "~/api/client";
import { PAGE } from "~/api/page-config";
import { statusQuery } from "~/api/status";
import { pretty } from "~/domain/json";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { bytes } from "~/format/number";
import { shellWord } from "~/format/shell";
import type { RequestDetail } from "~/generated/api-types";
import { logHref } from "~/navigation/links";
import { toClipboard } from "~/ui/clipboard";
import { CopiedText } from "~/ui/copy-button";
import { QuietButton } from "~/ui/quiet-button";
import { type Body, callOf } from "./replay-call";
import { asCurl, asNode, asPython } from "./replay-code";
import css from "./request.module.css";

type CopyResult = { about: string; form: CopyFormat } & (
  | { state: "copied"; note: string | undefined }
  | { state: "selected"; copied: Copied }
  | { state: "failed"; message: string }
);

const COPIED_MS = 2_500;

/** Copy the request as a link, a command, a script or JSON. */
export function CopyBar({ request }: { request: RequestDetail | undefined }) {
  const client = useQueryClient();
  const [last, setLast] = useState<CopyResult>();
  // The result is not shown for another request or after the request has ended.
  const result = request !== undefined && last?.about === aboutOf(request) ? last : undefined;

  const report = (next: CopyResult) => {
    setLast(next);
    const isOver = next.state === "copied" && next.note === undefined;
    if (isOver) window.setTimeout(() => setLast((current) => (current === next ? undefined : current)), COPIED_MS);
  };

  const copy = async (form: CopyFormat, from: RequestDetail) => {
    const made = renderCopy(form, from, client);
    const about = aboutOf(from);
    try {
      await toClipboard(made.then(({ text }) => text));
      report({ about, state: "copied", form, note: (await made).note });
    } catch {
      made.then(
        (copied) => report({ about, state: "selected", form, copied }),
        (error: Error) => report({ about, state: "failed", form, message: error.message }),
      );
    }
  };

  return (
    <Group role="group" pos="relative" ms="auto" gap={0} wrap="nowrap" aria-label="Copy the request">
      <span className="muted">Copy:</span>
      {COPY_FORMATS.map((form) => {
        const isCopied = result?.state === "copied" && result.form === form;
        const name = nameOf(form);
        return (
          <QuietButton
            key={form}
            label={isCopied ? `Copied as ${name}` : `Copy as ${name}`}
            title={form === "replay" ? REPLAY_TITLE : undefined}
            disabled={request === undefined}
            onClick={() => request !== undefined && void copy(form, request)}
          >
            <CopiedText text={form} copied="✓" isCopied={isCopied} />
            {form === "replay" && <span className={css.wide}>&nbsp;(CLI)</span>}
          </QuietButton>
        );
      })}
      <span className="visually-hidden" role="status">
        {result?.state === "copied" && `Copied as ${nameOf(result.form)}. ${result.note ?? ""}`}
      </span>
      {result?.state === "selected" && (
        <SelectedText
          name={nameOf(result.form)}
          text={result.copied.text}
          note={result.copied.note}
          onClose={() => setLast(undefined)}
        />
      )}
      {result?.state === "copied" && result.note !== undefined && (
        <Paper className={css.message} withBorder px={12} py={8} aria-hidden="true">
          {result.note} <QuietButton onClick={() => setLast(undefined)}>✕</QuietButton>
        </Paper>
      )}
      {result?.state === "failed" && (
        <Paper className={css.message} withBorder px={12} py={8} role="alert">
          {nameOf(result.form)} could not be copied: {result.message}{" "}
          <QuietButton label="Close" onClick={() => setLast(undefined)}>
            ✕
          </QuietButton>
        </Paper>
      )}
    </Group>
  );
}

function aboutOf({ id, outcome }: RequestDetail): string {
  return `${id} ${outcome}`;
}

type Props = { name: string; text: string; note: string | undefined; onClose: () => void };

/** The selected text, which is shown if the browser blocks copying. */
function SelectedText({ name, text, note, onClose }: Props) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    onClose();
  };
  return (
    <Paper
      role="dialog"
      aria-label={`Copy as ${name}`}
      className={css.message}
      withBorder
      px={12}
      py={8}
      onKeyDown={onKeyDown}
    >
      Copying is blocked by the browser. Press Ctrl+C or ⌘C.
      <Textarea
        ref={select}
        aria-label={`${name}, selected`}
        readOnly
        rows={8}
        w={520}
        maw="100%"
        my={6}
        styles={{ input: { background: "var(--color-bg-subtle)", font: "12px / 1.5 var(--mono)" } }}
        value={text}
      />
      <Group justify="space-between">
        <span className="muted">{note}</span>
        <QuietButton onClick={onClose}>Close</QuietButton>
      </Group>
    </Paper>
  );
}

function select(element: HTMLTextAreaElement | null): void {
  element?.focus();
  element?.select();
}

const COPY_FORMATS = ["link", "curl", "Python", "Node", "JSON", "replay"] as const;
type CopyFormat = (typeof COPY_FORMATS)[number];

function nameOf(form: CopyFormat): string {
  return form === "replay" ? "replay (CLI)" : form;
}

const REPLAY_TITLE = "Copy a command that plays this response again to your own client";

/** `note` says how to use the text. */
type Copied = { text: string; note: string | undefined };

const SCRIPTS = { curl: asCurl, Python: asPython, Node: asNode };
/** The maximum size of one argument is 128 KiB on Linux. */
const MAX_IN_SCRIPT_BYTES = 100_000;

async function renderCopy(form: CopyFormat, request: RequestDetail, client: QueryClient): Promise<Copied> {
  if (form === "link")
    return { text: new URL(logHref(EMPTY_SEARCH, request.id), window.location.origin).href, note: undefined };
  if (form === "JSON") return { text: pretty(request), note: undefined };
  if (form === "replay") return replayOf(request);
  const obstacle = obstacleOf(request);
  if (obstacle !== undefined) throw new Error(obstacle);
  const [status, body] = await Promise.all([
    client.fetchQuery({ ...statusQuery(), staleTime: 60_000 }),
    bodyOf(request),
  ]);
  const note = body !== undefined && "file" in body ? body.note : undefined;
  return { text: SCRIPTS[form](callOf(request, status, body)), note };
}

/** The command that replays the response to a client under test. */
function replayOf({ id, outcome }: RequestDetail): Copied {
  if (outcome === "open") throw new Error("The request is still running. It can be replayed when it has ended.");
  const note = "The command prints a base URL. Every request to it gets this response, with its pauses and its break.";
  return { text: `relaybook replay --id ${id} --dashboard-url ${shellWord(window.location.origin + PAGE.base)}`, note };
}

/** Why a script cannot repeat the request: the request is running, or its body is not stored. Otherwise undefined. */
function obstacleOf({ outcome, stored_request_bytes, request_bytes }: RequestDetail): string | undefined {
  if (outcome === "open") return "The request is still running. It can be copied when it has ended.";
  if (stored_request_bytes === null) return request_bytes === 0 ? undefined : "The request body is not stored.";
  return stored_request_bytes < request_bytes ? "Only the beginning of the request body is stored." : undefined;
}

/** Whether the download of the body is a text file. The API decides by the content type. */
function isTextual({ request_headers }: RequestDetail): boolean {
  const type = request_headers?.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  return TEXTUAL.test(type.replace(/;.*/s, "").trim().toLowerCase());
}

/** Keep in sync with api/downloads.py. */
const TEXTUAL = /^(text\/.*|.*[/+](json|xml)|.*(html|svg|javascript|ndjson|jsonl|event-stream|urlencoded).*)$/;

/** The body as it was sent, or a file if the body is too large for a command. */
async function bodyOf(request: RequestDetail): Promise<Body> {
  if (!request.stored_request_bytes) return undefined;
  const file = `${request.id}-request.${isTextual(request) ? "txt" : "bin"}`;
  const size = bytes(request.stored_request_bytes);
  const elsewhere = { file, note: `The body (${size}) is read from ${file}. Download the body under Raw.` };
  if (request.stored_request_bytes > MAX_IN_SCRIPT_BYTES) return elsewhere;
  const text = await getText(apiUrl(`requests/${encodeURIComponent(request.id)}/request`));
  const isText = !text.includes("\0") && !text.includes("\ufffd");
  return text.length <= MAX_IN_SCRIPT_BYTES && isText ? { text } : elsewhere;
}
