import { Button } from "@mantine/core";
import { QUERY, queryParts } from "~/domain/query-parts";
import { useGo } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";

/** A word of which only the beginning was meant finds nothing: what words mean, and the way to look for beginnings. */
export function WholeWords() {
  const search = useLogSearch();
  const go = useGo();
  const words = queryParts(search.filter).filter((part) => part.name === "" && !part.negated);
  const whole = words.find((part) => !part.value.endsWith("*"));
  if (whole === undefined) return null;
  const shorter = beginningOf(whole.value);
  const filter = search.filter.map((term) =>
    term.name === QUERY
      ? { ...term, values: term.values.map((value) => (value === whole.written ? shorter : value)) }
      : term,
  );
  if (shorter === "") return <p>Whole words are looked for, one after the other as they stand between the quotes.</p>;
  return (
    <p>
      Whole words are looked for: try{" "}
      <Button variant="default" size="compact-sm" onClick={() => go({ search: { ...search, filter } })}>
        {shorter}
      </Button>
    </p>
  );
}

/** `refund` → `refun*`; empty for what is more than one word. */
function beginningOf(word: string): string {
  if (!/^[\p{L}\p{N}]+$/u.test(word)) return "";
  const letters = [...word];
  return `${letters.slice(0, letters.length > 3 ? -1 : undefined).join("")}*`;
}
