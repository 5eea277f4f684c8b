/** Images, audio, videos and files of a message. */

import { useState } from "react";
import { apiUrl } from "~/api/client";
import type { Part } from "~/generated/api-types";
import pageCss from "~/ui/page.module.css";
import css from "./conversation.module.css";
import { Json } from "./other-fields";
import { labelOf, showMedia } from "./parts";

/** Only images inside the message are shown, because nothing is loaded from other addresses. */
export function MediaView({ part }: { part: Part }) {
  const { kind, media } = part;
  if (!media || Object.keys(media).length === 0) return <p>{labelOf(part)}</p>;
  const shown = showMedia(kind, media);
  switch (shown.kind) {
    case "picture":
      return (
        <figure className={css.picture}>
          <img src={shown.source} alt="Part of the message" />
          <figcaption>{shown.label}</figcaption>
        </figure>
      );
    case "stored":
      return <StoredMedia isAudio={kind === "audio"} path={shown.path} label={shown.label} />;
    case "remote":
      return (
        <p>
          <a
            className={pageCss.link}
            href={shown.address}
            target="_blank"
            rel="noreferrer noopener"
            title={shown.address.slice(0, 500)}
          >
            {shown.label}
          </a>
        </p>
      );
    default:
      return <Json summary={shown.label} value={media} />;
  }
}

type StoredMediaProps = { isAudio: boolean; path: string; label: string };

/** Audio that can be played, or an image, from the stored body. */
function StoredMedia({ isAudio, path, label }: StoredMediaProps) {
  const [isUnusable, setUnusable] = useState(false);
  const url = apiUrl(path);
  if (isUnusable) return <p className="note">{`${label}, which this browser cannot ${isAudio ? "play" : "show"}`}</p>;
  return (
    <figure className={css.picture}>
      {isAudio ? (
        // biome-ignore lint/a11y/useMediaCaption: the transcript, if there is one, is a text beside the player
        <audio controls preload="metadata" src={url} aria-label={label} onError={() => setUnusable(true)} />
      ) : (
        <img src={url} alt="Part of the message" onError={() => setUnusable(true)} />
      )}
      <figcaption>{label}</figcaption>
    </figure>
  );
}
