import { pretty } from "~/domain/json";
import { Fold } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import css from "./conversation.module.css";
import type { Part } from "./parts";

/** A part of a message. Only pictures that came in the message are shown; nothing is loaded from anywhere. */
export function PartView({ part, most }: { part: Part; most?: number }) {
  switch (part.kind) {
    case "text":
      return <LongText text={part.text} {...(most === undefined ? {} : { most })} />;
    case "picture":
      return (
        <figure className={css.picture}>
          <img src={part.source} alt="Sent in the message" />
          <figcaption>{part.words}</figcaption>
        </figure>
      );
    case "remote":
      return (
        <p className={css.part}>
          <a
            className={css.link}
            href={part.address}
            target="_blank"
            rel="noreferrer noopener"
            title={part.address.slice(0, 500)}
          >
            {part.words}
          </a>
        </p>
      );
    default:
      return (
        <Fold summary={part.words}>
          <LongText text={pretty(part.raw)} most={2_000} className={css.mono} />
        </Fold>
      );
  }
}
