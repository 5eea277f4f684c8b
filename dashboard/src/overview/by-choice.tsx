import { useQuery } from "@tanstack/react-query";
import { propertiesQuery } from "~/api/namespaces";
import { useGoToOverview, useOverview } from "~/navigation/overview-search";
import { fieldName } from "./groups";
import css from "./page.module.css";

const FIELDS = ["namespace", "model", "outcome"];

/** By what the requests are parted; the URL says it. */
export function ByChoice() {
  const { search, by } = useOverview();
  const go = useGoToOverview();
  const properties = useQuery(propertiesQuery()).data?.data.map(({ value }) => `property.${value}`) ?? [];
  // What the URL names is there in any case.
  const isElse = by !== undefined && !FIELDS.includes(by) && !properties.includes(by);
  return (
    <label className={css.choice}>
      by
      <select
        className={css.select}
        aria-label="Parted by"
        value={by ?? ""}
        onChange={(event) => go(search, event.currentTarget.value || undefined)}
      >
        <option value="">nothing</option>
        {FIELDS.map((field) => (
          <option key={field} value={field}>
            {fieldName(field)}
          </option>
        ))}
        <optgroup label="Properties">
          {[...properties, ...(isElse ? [by] : [])].map((field) => (
            <option key={field} value={field}>
              {fieldName(field)}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  );
}
