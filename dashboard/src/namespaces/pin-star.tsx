import type { usePin } from "~/api/namespaces";
import { useLabel } from "~/filters/labels";
import css from "./table.module.css";

type PinStarProps = { namespace: string; onPin: ReturnType<typeof usePin>["mutate"] };

/** Pins a namespace as a label, or makes it a thread again. For everybody who reads the log. */
export function PinStar({ namespace, onPin }: PinStarProps) {
  const isPinned = useLabel(namespace) !== undefined;
  return (
    <button
      type="button"
      className={css.star}
      aria-label={`Pin ${namespace} as a label`}
      aria-pressed={isPinned}
      title={isPinned ? "A label for everybody. Unpin: make it a thread" : "Pin as a label, for everybody"}
      onClick={() => onPin({ namespace, pinned: !isPinned })}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d="m8 1.8 1.9 4 4.4.6-3.2 3 .8 4.4L8 11.7l-3.9 2.1.8-4.4-3.2-3 4.4-.6z" />
      </svg>
    </button>
  );
}
