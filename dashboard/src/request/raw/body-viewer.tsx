import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { apiUrl, getText } from "~/api/client";
import { parsedExactly, pretty } from "~/domain/json";
import { QuietButton } from "~/ui/quiet-button";
import { brokenLines } from "./long-lines";
import css from "./raw.module.css";

const CodeView = lazy(() => import("./code-view").then(({ CodeView }) => ({ default: CodeView })));

const MOST_FORMATTED = 8_000_000;

/** A body to be read and searched in the page, as it came or indented. */
export function BodyViewer({ id, side }: { id: string; side: "request" | "response" }) {
  const [isFormatted, setFormatted] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["body", id, side],
    queryFn: ({ signal }) => getText(apiUrl(`requests/${encodeURIComponent(id)}/${side}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });
  const shown = useMemo(() => brokenLines(isFormatted ? indented(data ?? "") : (data ?? "")), [data, isFormatted]);
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
        {isJson && data.length <= MOST_FORMATTED && (
          <>
            <QuietButton isChosen={!isFormatted} onClick={() => setFormatted(false)}>
              As it came
            </QuietButton>
            <QuietButton isChosen={isFormatted} onClick={() => setFormatted(true)}>
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
