import { clockTime, day, utc } from "~/format/time";
import { useNow } from "~/ui/use-now";

type Props = {
  at: string;
  /** What was told before it: its day is not told again. */
  after?: string;
};

/** A moment in the reader's zone, with UTC on hover. */
export function Moment({ at, after }: Props) {
  const now = useNow();
  const name = day(new Date(at), now);
  const isSameDay = after !== undefined && day(new Date(after), now) === name;
  return (
    <time dateTime={at} title={utc(at)}>
      {isSameDay ? "" : `${name} `}
      {clockTime(at)}
    </time>
  );
}
