import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import { hasWords } from "~/domain/query-parts";
import { plural } from "~/format/number";
import { useLogSearch } from "~/navigation/search-context";

/** Where words are looked for: how many requests they are not looked for in yet. Nothing once it is all of them. */
export function QueryIndexing({ className }: { className: string | undefined }) {
  const { filter } = useLogSearch();
  const status = useQuery(statusQuery()).data;
  const behind = status === undefined ? 0 : status.last_seq - status.indexed_to;
  if (behind <= 0 || !hasWords(filter)) return null;
  return (
    <span className={className}>
      Words are being indexed: {plural(behind, "newer request is", "newer requests are")} not searched yet.
    </span>
  );
}
