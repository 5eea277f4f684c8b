import { ago, clockTime, day, utc } from "~/format/time";
import { useNow } from "~/ui/use-now";

type Props = {
  /** Null: never. */
  at: string | null;
  /** How long ago, rather than when. */
  isAgo?: boolean;
};

/** When a request came, in the reader's zone; UTC on hover. */
export function MomentSeen({ at, isAgo = false }: Props) {
  const now = useNow();
  if (at === null) return "–";
  return (
    <time dateTime={at} title={utc(at)}>
      {isAgo ? ago(at, now) : `${day(new Date(at), now)} ${clockTime(at)}`}
    </time>
  );
}
