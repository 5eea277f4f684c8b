import { dayAndTime, utc } from "~/format/time";
import { useNow } from "~/ui/use-now";

/** A moment in the reader's zone, with UTC on hover. */
export function Moment({ moment }: { moment: string }) {
  return (
    <time dateTime={moment} title={utc(moment)}>
      {dayAndTime(moment, useNow())}
    </time>
  );
}
