import { MOST_VALUES } from "~/api/namespaces";
import { count } from "~/format/number";
import type { FieldValue } from "~/generated/api-types";
import { ListLink } from "~/navigation/links";
import { ALL_PROPERTIES } from "~/navigation/list-search";
import { Middle } from "~/ui/truncate-middle";
import css from "./properties.module.css";

/** Names of properties with the requests that have one, most frequent first. */
export function PropertyNames({ names, opened }: { names: readonly FieldValue[]; opened: string | undefined }) {
  return (
    <>
      <div className={css.heads} aria-hidden="true">
        <span>Property</span>
        <span>Requests</span>
      </div>
      <ul className={css.nameList}>
        {names.map(({ value: name, requests }) => (
          <li key={name}>
            <ListLink
              to={{ ...ALL_PROPERTIES, property: name }}
              className={css.property}
              title={name}
              current={name === opened ? "true" : undefined}
            >
              <Middle text={name} /> <span className={css.count}>{count(requests)}</span>{" "}
              <span className="unseen">requests</span>
            </ListLink>
          </li>
        ))}
      </ul>
      {names.length === MOST_VALUES && (
        <p className={css.most}>The {MOST_VALUES} most frequent. Others are found by how they begin.</p>
      )}
    </>
  );
}
