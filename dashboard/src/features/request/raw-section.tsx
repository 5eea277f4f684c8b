/** The section with the bodies as they were sent. */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { apiUrl, getText } from "~/api/client";
import { parsedExactly, pretty } from "~/domain/json";
import { whyNotStored } from "~/features/conversation/unavailable";
import { bytes } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { toClipboard } from "~/ui/clipboard";
import { QuietButton } from "~/ui/quiet-button";
import css from "./request-detail.module.css";

/** Both bodies as they came. */
export function Raw({ request }: { request: RequestDetail }) {
  const words =
    request.outcome === "open" ? "Both bodies can be read here once the request has ended." : whyNotStored(request);
  if (words !== undefined) return <p className={css.words}>{words}</p>;
  return (
    <>
      <RawBody
        id={request.id}
        side="request"
        crossed={request.request_bytes}
        stored={request.stored_request_bytes}
        headers={request.request_headers}
      />
      <RawBody
        id={request.id}
        side="response"
        crossed={request.response_bytes}
        stored={request.stored_response_bytes}
        headers={request.response_headers}
      />
    </>
  );
}

type Props = {
  id: string;
  side: "request" | "response";
  /** Bytes that crossed, and those of them that are stored; null: none. */
  crossed: number;
  stored: number | null;
  headers: readonly (readonly [string, string])[] | null;
};

const MAX_IN_PAGE_BYTES = 20_000_000;

/** One body: its size, and ways to get at it. */
export function RawBody({ id, side, crossed, stored, headers }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [told, setTold] = useState("");
  if (!stored) {
    return (
      <div className={css.row}>
        <span className={css.side}>{side}</span>{" "}
        <span className={css.words}>{crossed === 0 ? "no body" : "not stored"}</span>
      </div>
    );
  }
  const coding = headers?.find(([name]) => name.toLowerCase() === "content-encoding")?.[1];
  const url = apiUrl(`requests/${encodeURIComponent(id)}/${side}`);
  const isSmall = stored <= MAX_IN_PAGE_BYTES;
  const copy = () =>
    toClipboard(getText(url)).then(
      () => setTold("copied"),
      (error: Error) => setTold(`not copied: ${error.message}`),
    );
  return (
    <>
      <div className={css.row}>
        <span className={css.side}>{side}</span>
        <span>
          {bytes(stored)}
          {coding !== undefined && `, ${coding}`}
          {crossed > stored && ` of ${bytes(crossed)}: only the beginning was kept`}
        </span>
        {isSmall && (
          <>
            <QuietButton label={`View the ${side}`} selected={isOpen} onClick={() => setOpen(!isOpen)}>
              view
            </QuietButton>
            <QuietButton label={`Copy the ${side}`} onClick={() => void copy()}>
              copy
            </QuietButton>
          </>
        )}
        <a className={css.download} href={url} download="" aria-label={`Download the ${side}, decoded`}>
          <span aria-hidden="true">⤓</span> {coding === undefined ? "download" : "decoded"}
        </a>
        {coding !== undefined && (
          <a className={css.download} href={`${url}?as=sent`} download="" aria-label={`Download the ${side} as sent`}>
            <span aria-hidden="true">⤓</span> as sent
          </a>
        )}
        <span role="status" className={css.words}>
          {told}
        </span>
      </div>
      {isOpen && <BodyViewer id={id} side={side} />}
    </>
  );
}

const CodeView = lazy(() => import("./code-viewer").then(({ CodeView }) => ({ default: CodeView })));

const MAX_FORMATTED = 8_000_000;

/** A body to be read and searched in the page, as it came or indented. */
export function BodyViewer({ id, side }: { id: string; side: "request" | "response" }) {
  const [isFormatted, setFormatted] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["body", id, side],
    queryFn: ({ signal }) => getText(apiUrl(`requests/${encodeURIComponent(id)}/${side}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });
  const shown = useMemo(() => wrapLongLines(isFormatted ? indented(data ?? "") : (data ?? "")), [data, isFormatted]);
  if (error !== null) {
    return (
      <p className={css.words} role="alert">
        The body could not be read: {error.message} <QuietButton onClick={() => void refetch()}>again</QuietButton>
      </p>
    );
  }
  if (data === undefined) return <div className={css.viewer} aria-busy="true" />;
  const isJson = /^\s*[[{]/.test(data);
  return (
    <div className={css.viewer}>
      <fieldset className={css.tools} aria-label={`How the ${side} is shown`}>
        {isJson && data.length <= MAX_FORMATTED && (
          <>
            <QuietButton selected={!isFormatted} onClick={() => setFormatted(false)}>
              As it came
            </QuietButton>
            <QuietButton selected={isFormatted} onClick={() => setFormatted(true)}>
              Indented
            </QuietButton>
          </>
        )}
        <span className={css.hint}>{shown.isBroken && "very long lines are broken here · "}Ctrl F searches in it</span>
      </fieldset>
      <Suspense fallback={<div className={css.editor} aria-busy="true" />}>
        <CodeView text={shown.text} isJson={isJson} name={`Body of the ${side}`} />
      </Suspense>
    </div>
  );
}

/** What is no JSON stays as it is. */
function indented(text: string): string {
  const value = parsedExactly(text);
  return value === undefined ? text : pretty(value);
}

/** Lines of a length that no editor lays out in time are broken, for reading only. Pure. */
const MOST = 20_000;

/** The text with a line break after each 20,000 characters of a line that has more. */
export function wrapLongLines(text: string): { text: string; isBroken: boolean } {
  const pieces: string[] = [];
  let isBroken = false;
  for (const line of text.split("\n")) {
    isBroken ||= line.length > MOST;
    for (let at = 0; at === 0 || at < line.length; at += MOST) pieces.push(line.slice(at, at + MOST));
  }
  return isBroken ? { text: pieces.join("\n"), isBroken } : { text, isBroken };
}
