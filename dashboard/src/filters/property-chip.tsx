import { Middle } from "~/ui/middle";
import chip from "./chips.module.css";
import { FilterLink } from "./filter-link";

/** A custom property where it is shown: outlined, name dim, value strong, so that nobody takes it for a namespace. */
export function PropertyChip({ name, value, bare = false }: { name: string; value: string; bare?: boolean }) {
  return (
    <FilterLink name={`property.${name}`} value={value} className={chip.property} title={`${name}: ${value}`}>
      {!bare && (
        <span className={chip.name}>
          <Middle text={name} />
        </span>
      )}{" "}
      <span className={chip.value}>
        <Middle text={value} />
      </span>
    </FilterLink>
  );
}
