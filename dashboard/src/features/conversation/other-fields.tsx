/** Fields and values for which the page has no better view than JSON. */

import { isContainer, type JsonObject, objectOf } from "~/domain/json";
import { Disclosure } from "~/ui/disclosure";
import { JsonTree } from "~/ui/json-tree";

/** The fields of a message or a part that are not shown otherwise, collapsed. Empty fields alone are not shown. */
export function OtherFields({ fields }: { fields: JsonObject | undefined }) {
  if (fields === undefined || Object.values(fields).every(isEmpty)) return null;
  return <Json summary={`Other fields: ${Object.keys(fields).join(", ")}`} value={fields} />;
}

const MAX_LINES = 60;

/** A value as JSON, collapsed. */
export function Json({ summary, value }: { summary: string; value: unknown }) {
  return (
    <Disclosure summary={summary}>
      <JsonTree value={objectOf(value)} maxLines={MAX_LINES} />
    </Disclosure>
  );
}

function isEmpty(value: unknown): boolean {
  return value === "" || (isContainer(value) && Object.keys(value).length === 0);
}
