import { useState } from "react";
import { apiUrl, getText } from "~/api/client";
import { bytes } from "~/format/number";
import { toClipboard } from "~/ui/clipboard";
import { QuietButton } from "~/ui/quiet-button";
import { BodyViewer } from "./body-viewer";
import css from "./raw.module.css";

type Props = {
  id: string;
  side: "request" | "response";
  /** Bytes that crossed, and those of them that are stored; null: none. */
  crossed: number;
  stored: number | null;
  headers: readonly (readonly [string, string])[] | null;
};

const MOST_IN_PAGE_BYTES = 20_000_000;

/** One body: its size, and ways to get at it. */
export function RawBody({ id, side, crossed, stored, headers }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [told, setTold] = useState("");
  if (!stored) {
    return (
      <div className={css.line}>
        <span className={css.side}>{side}</span>{" "}
        <span className={css.words}>{crossed === 0 ? "no body" : "not stored"}</span>
      </div>
    );
  }
  const coding = headers?.find(([name]) => name.toLowerCase() === "content-encoding")?.[1];
  const url = apiUrl(`requests/${encodeURIComponent(id)}/${side}`);
  const isSmall = stored <= MOST_IN_PAGE_BYTES;
  const copy = () =>
    toClipboard(getText(url)).then(
      () => setTold("copied"),
      (error: Error) => setTold(`not copied: ${error.message}`),
    );
  return (
    <>
      <div className={css.line}>
        <span className={css.side}>{side}</span>
        <span>
          {bytes(stored)}
          {coding !== undefined && `, ${coding}`}
          {crossed > stored && ` of ${bytes(crossed)}: only the beginning was kept`}
        </span>
        {isSmall && (
          <>
            <QuietButton label={`View the ${side}`} isChosen={isOpen} onClick={() => setOpen(!isOpen)}>
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
