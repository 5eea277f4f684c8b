/** The section with the bodies as they were sent. */

import { Alert, Box, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { apiUrl, getText } from "~/api/client";
import { ApiError } from "~/domain/api-error";
import { parsedExactly, pretty } from "~/domain/json";
import { whyNotStored } from "~/features/conversation/unavailable";
import { bytes } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { toClipboard } from "~/ui/clipboard";
import controlsCss from "~/ui/controls.module.css";
import { lazyPart } from "~/ui/lazy-part";
import { QuietButton } from "~/ui/quiet-button";
import css from "./request.module.css";

/** The bodies as they were sent. */
export function Raw({ request }: { request: RequestDetail }) {
  const reason =
    request.outcome === "open" ? "The bodies are shown here after the request has ended." : whyNotStored(request);
  if (reason !== undefined) return <p className="note">{reason}</p>;
  return (
    <>
      <RawBody
        id={request.id}
        side="request"
        sent={request.request_bytes}
        stored={request.stored_request_bytes}
        headers={request.request_headers}
      />
      <RawBody
        id={request.id}
        side="response"
        sent={request.response_bytes}
        stored={request.stored_response_bytes}
        headers={request.response_headers}
      />
    </>
  );
}

type Props = {
  id: string;
  side: "request" | "response";
  /** Sizes in bytes, as sent and as stored. `stored` is `null` if the body is not stored. */
  sent: number;
  stored: number | null;
  headers: readonly (readonly [string, string])[] | null;
};

const MAX_IN_PAGE_BYTES = 20_000_000;

const NOT_COPIED = "Copying is blocked by the browser. Download the body instead.";

/** One body: its size, and ways to view, copy and download it. */
function RawBody({ id, side, sent, stored, headers }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [message, setMessage] = useState("");
  if (!stored) {
    return (
      <Group gap={6} mih={26}>
        <Box component="span" className="muted" w={64}>
          {side}
        </Box>
        <span className="muted">{sent === 0 ? "no body" : "not stored"}</span>
      </Group>
    );
  }
  const coding = headers?.find(([name]) => name.toLowerCase() === "content-encoding")?.[1];
  const url = apiUrl(`requests/${encodeURIComponent(id)}/${side}`);
  const isSmall = stored <= MAX_IN_PAGE_BYTES;
  const copy = () =>
    toClipboard(getText(url)).then(
      () => setMessage("copied"),
      (error: Error) => setMessage(error instanceof ApiError ? `not copied: ${error.message}` : NOT_COPIED),
    );
  return (
    <>
      <Group gap="0 6px" mih={26}>
        <Box component="span" className="muted" w={64}>
          {side}
        </Box>
        <span>
          {bytes(stored)}
          {coding !== undefined && `, ${coding}`}
          {sent > stored && ` of ${bytes(sent)}: only the beginning is stored`}
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
        <a className={controlsCss.button} href={url} download="" aria-label={`Download the ${side}, decoded`}>
          {coding === undefined ? "download" : "download decoded"}
        </a>
        {coding !== undefined && (
          <a
            className={controlsCss.button}
            href={`${url}?as=sent`}
            download=""
            aria-label={`Download the ${side} as sent`}
          >
            download as sent
          </a>
        )}
        <span role="status" className="muted">
          {message}
        </span>
      </Group>
      {isOpen && <BodyViewer id={id} side={side} />}
    </>
  );
}

const CodeView = lazyPart(() => import("./code-viewer").then((viewer) => viewer.CodeView));

const MAX_FORMATTED = 8_000_000;

/** A body in a viewer with search, as sent or indented. */
function BodyViewer({ id, side }: { id: string; side: "request" | "response" }) {
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
      <Alert color="gray">
        The body could not be read: {error.message} <QuietButton onClick={() => void refetch()}>Retry</QuietButton>
      </Alert>
    );
  }
  if (data === undefined) return <div className={css.viewer} aria-busy="true" />;
  const isJson = /^\s*[[{]/.test(data);
  return (
    <div className={css.viewer}>
      <Group role="group" className="bottom-line" gap={0} px={4} py={2} aria-label={`View of the ${side}`}>
        {isJson && data.length <= MAX_FORMATTED && (
          <>
            <QuietButton selected={!isFormatted} onClick={() => setFormatted(false)}>
              Unformatted
            </QuietButton>
            <QuietButton selected={isFormatted} onClick={() => setFormatted(true)}>
              Indented
            </QuietButton>
          </>
        )}
        <Group className="muted" ms="auto" me={8}>
          {shown.isBroken && "Very long lines are wrapped · "}Ctrl+F to search
        </Group>
      </Group>
      <Suspense fallback={<div aria-busy="true" />}>
        <CodeView text={shown.text} isJson={isJson} name={`Body of the ${side}`} />
      </Suspense>
    </div>
  );
}

/** JSON with indentation. Other text is unchanged. */
function indented(text: string): string {
  const value = parsedExactly(text);
  return value === undefined ? text : pretty(value);
}

/** The editor lays out longer lines too slowly. */
const MAX_LINE_LENGTH = 20_000;

/** The text with a line break after each 20,000 characters of longer lines. */
export function wrapLongLines(text: string): { text: string; isBroken: boolean } {
  const pieces: string[] = [];
  let isBroken = false;
  for (const line of text.split("\n")) {
    isBroken ||= line.length > MAX_LINE_LENGTH;
    for (let at = 0; at === 0 || at < line.length; at += MAX_LINE_LENGTH)
      pieces.push(line.slice(at, at + MAX_LINE_LENGTH));
  }
  return isBroken ? { text: pieces.join("\n"), isBroken } : { text, isBroken };
}
