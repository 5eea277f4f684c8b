/** Reads what somebody types into the query box: `namespace:production -model:gpt-4o from:-1h`, or an id. Pure. */

import { also, type Filter, not, type TimeRange } from "./filter";

/** Names that can be typed before a colon; `property.<name>` is one too. */
export const TYPED_NAMES = [
  "namespace",
  "model",
  "status",
  "outcome",
  "failed",
  "user",
  "key",
  "kind",
  "path",
  "route",
  "finish_reason",
  "namespace_prefix",
  "warning",
  "advice",
  "id",
  "from",
  "to",
] as const;

export type Typed =
  | { readonly filter: Filter; readonly range: TimeRange }
  /** One id: the request that carries it. */
  | { readonly id: string }
  | { readonly wrong: string };

const TERM = /^(-?)([a-z_]+|property\.[^:\s]+):(.+)$/su;
const ID = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(chatcmpl|req|resp|cmpl)[-_].+)$/iu;

/** Adds what is typed to a filter. `wrong` names the word that cannot be read and says what can. */
export function readTyped(text: string, filter: Filter, range: TimeRange): Typed {
  const words = text.match(/-?[^\s":]+:"[^"]*"|"[^"]*"|\S+/gu) ?? [];
  const [first] = words;
  if (first !== undefined && words.length === 1 && ID.test(first)) return { id: first };
  let nextFilter = filter;
  let nextRange = range;
  for (const word of words) {
    const [, minus, name = "", quoted = ""] = TERM.exec(word) ?? [];
    const value = quoted.replace(/^"(.*)"$/su, "$1");
    if (name === "" || value === "") return { wrong: notAFilter(word) };
    if (!name.startsWith("property.") && !(TYPED_NAMES as readonly string[]).includes(name)) {
      return {
        wrong: `${name} is not something the log can be filtered by. Known: ${TYPED_NAMES.join(", ")}, property.<name>.`,
      };
    }
    if (name === "from" || name === "to") nextRange = { ...nextRange, [name]: value };
    else nextFilter = (minus === "-" ? not : also)(nextFilter, name, value);
  }
  return { filter: nextFilter, range: nextRange };
}

function notAFilter(word: string): string {
  return `${word} is not a filter: searching in texts is not built yet. Write name:value, for example namespace:production, -model:gpt-4o or property.channel:iOS, or paste an id.`;
}
