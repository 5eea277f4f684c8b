import { Autocomplete } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useState } from "react";
import { valuesQuery } from "~/api/namespaces";
import { useLogSearch } from "~/url/search-context";
import { useGo } from "~/url/use-go";
import css from "./query-box.module.css";
import { readTyped, TYPED_NAMES } from "./typed-terms";

/** Fields whose values the API can list. */
const LISTED = /^(namespace|model|user|key|finish_reason|property\.[^:]+)$/u;

/** Fields that have the same values in every log. */
const FIXED: Record<string, readonly string[]> = {
  status: ["error", "4xx", "5xx", "200", "400", "401", "404", "429"],
  outcome: ["complete", "client_closed", "upstream_failed", "interrupted", "refused"],
  kind: ["chat", "completion", "response", "embedding", "models", "other"],
  failed: ["true", "false"],
  from: ["-15m", "-1h", "-24h", "-7d", "-30d"],
};

/** Adds terms by typing; names and values that exist are offered. */
export function QueryBox({ box }: { box: RefObject<HTMLInputElement | null> }) {
  const search = useLogSearch();
  const go = useGo();
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string>();
  const offers = useOffers(text);

  const submit = () => {
    const typed = readTyped(text.trim(), search.filter, search.range);
    if ("wrong" in typed) return setWrong(typed.wrong);
    if ("id" in typed) go({ search, id: typed.id });
    else go({ search: { ...search, ...typed } });
    setText("");
  };

  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") submit();
      }}
    >
      <Autocomplete
        ref={box}
        className={css.box ?? ""}
        aria-label="Filter the log"
        placeholder="/  namespace:production  -model:gpt-4o  status:error  property.channel:iOS, or an id"
        value={text}
        data={offers}
        error={wrong}
        limit={12}
        selectFirstOptionOnDropdownOpen={false}
        comboboxProps={{ shadow: "md", position: "bottom-start", width: 340 }}
        onChange={(value) => {
          setText(value);
          setWrong(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </form>
  );
}

/** Whole texts that the last word could become. */
function useOffers(text: string): string[] {
  const word = /\S*$/u.exec(text)?.[0] ?? "";
  const before = text.slice(0, text.length - word.length);
  const [, minus = "", field = "", typed] = /^(-?)([^:]*)(?::(.*))?$/u.exec(word) ?? [];
  const isValue = typed !== undefined && LISTED.test(field);
  const values = useQuery({ ...valuesQuery(field, typed ?? ""), enabled: isValue }).data?.data;
  const names = useQuery({ ...valuesQuery("property", ""), enabled: word !== "" }).data?.data;
  const fixed = typed === undefined ? undefined : FIXED[field];
  if (fixed !== undefined) {
    return fixed.filter((value) => value.startsWith(typed ?? "")).map((value) => `${before}${minus}${field}:${value}`);
  }
  if (isValue) return (values ?? []).map(({ value }) => `${before}${minus}${field}:${quoted(value)}`);
  if (word === "" || typed !== undefined) return [];
  const known = [...TYPED_NAMES, ...(names ?? []).map(({ value }) => `property.${value}`)];
  return known.filter((name) => name.startsWith(field)).map((name) => `${before}${minus}${name}:`);
}

function quoted(value: string): string {
  return /\s/u.test(value) ? `"${value}"` : value;
}
