import { Middle } from "~/ui/truncate-middle";
import css from "./chips.module.css";
import { FilterLink } from "./filter-link";
import { useLabel } from "./labels";
import { ThreadMark } from "./thread-mark";

/** A namespace where it is shown: a coloured label when it is pinned, else a neutral thread. A click filters by it. */
export function NamespaceChip({ namespace }: { namespace: string }) {
  const label = useLabel(namespace);
  if (label !== undefined) {
    return (
      <FilterLink
        name="namespace"
        value={namespace}
        className={`${css.label} ${css[`slot${label.color ?? 1}`]}`}
        title={namespace}
      >
        <Middle text={namespace} />
      </FilterLink>
    );
  }
  return (
    <FilterLink name="namespace" value={namespace} className={css.thread} title={namespace}>
      <ThreadMark name={namespace} />
      <Middle text={namespace} />
    </FilterLink>
  );
}
