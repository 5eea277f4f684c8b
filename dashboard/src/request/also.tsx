import { plural } from "~/format/number";
import type { Sighting } from "~/generated/api-types";
import { QuietButton } from "~/ui/quiet-button";
import { Timestamp } from "~/ui/timestamp";
import css from "./head.module.css";

/** Other requests that carry the id that was asked for. */
export function Also({ sightings, onGo }: { sightings: readonly Sighting[]; onGo: (id: string) => void }) {
  if (sightings.length === 0) return null;
  return (
    <div className={css.tags}>
      <span className={css.name}>
        {plural(sightings.length, "other request carries", "other requests carry")} this id:
      </span>
      {sightings.map(({ id, started_at }) => (
        <QuietButton key={id} onClick={() => onGo(id)}>
          <Timestamp at={started_at} format="milliseconds" />
        </QuietButton>
      ))}
    </div>
  );
}
