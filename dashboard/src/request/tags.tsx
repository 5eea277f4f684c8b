import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { shortenMiddle } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { Timestamp } from "~/ui/timestamp";
import css from "./head.module.css";
import { Ids } from "./ids";

/** What the request is filed under; each value filters the log. */
export function Tags({ request }: { request: RequestDetail }) {
  const { namespace, properties, user, key, model, response_model } = request;
  return (
    <>
      <div className={css.tags}>
        <NamespaceChip namespace={namespace} />
        {Object.entries(properties).map(([name, value]) => (
          <PropertyChip key={name} name={name} value={value} />
        ))}
        {user !== null && (
          <FilterLink name="user" value={user} className={css.value} title={user}>
            <span className={css.name}>user</span> <bdi>{shortenMiddle(user, 24)}</bdi>
          </FilterLink>
        )}
        {key !== null && (
          <FilterLink name="key" value={key} className={css.value} title="Fingerprint of the API key">
            <span className={css.name}>key</span> <span className={css.mono}>{key}</span>
          </FilterLink>
        )}
      </div>
      <div className={css.tags}>
        {model !== null && (
          <FilterLink name="model" value={model} className={css.value} title={model}>
            <bdi>{shortenMiddle(model, 40)}</bdi>
          </FilterLink>
        )}
        {response_model !== null && response_model !== model && (
          <span className={css.answered} title="The model that answered">
            <span className={css.name}>→</span> <bdi>{shortenMiddle(response_model, 48)}</bdi>
          </span>
        )}
        <Timestamp at={request.started_at} format="milliseconds" />
        <Ids request={request} />
      </div>
    </>
  );
}
