import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { type Group, groupName } from "./groups";
import css from "./table.module.css";

/** A group's value, as everywhere a link that filters by it; those without a value have only a name. */
export function GroupValue({ group, by }: { group: Group; by: string }) {
  if (group.value === null) return <span className={css.dim}>{groupName(group, by)}</span>;
  if (by === "namespace") return <NamespaceChip namespace={group.value} />;
  if (by.startsWith("property.")) return <PropertyChip name={by.slice("property.".length)} value={group.value} bare />;
  const name = groupName(group, by);
  return (
    <FilterLink
      name={by}
      value={group.value}
      className={css.value}
      title={name}
      {...(by === "outcome" && { seen: name })}
    >
      {name}
    </FilterLink>
  );
}
