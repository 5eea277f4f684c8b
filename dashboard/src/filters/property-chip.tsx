import { Middle } from "~/ui/truncate-middle";
import css from "./chips.module.css";
import { FilterLink } from "./filter-link";

/** A custom property where it is shown: outlined, name dim, value strong, so that nobody takes it for a namespace. */
export function PropertyChip({ name, value, bare = false }: { name: string; value: string; bare?: boolean }) {
  return (
    <FilterLink name={`property.${name}`} value={value} className={css.property} title={`${name}: ${value}`}>
      {!bare && (
        <span className={css.name}>
          <Middle text={name} />
        </span>
      )}{" "}
      <span className={css.value}>
        <Middle text={value} />
      </span>
    </FilterLink>
  );
}
