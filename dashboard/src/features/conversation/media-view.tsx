/** Images, audio, videos and files of a message. */

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
