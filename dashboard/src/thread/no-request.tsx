import { Button } from "@mantine/core";
import { inWords } from "~/domain/filter";
import { useGoToList } from "~/navigation/links";
import { ALL_NAMESPACES } from "~/navigation/list-search";
import { useLogSearch } from "~/navigation/search-context";
import css from "./page.module.css";

/** Nothing is logged under the name, or nothing was found in the time there was. */
export function NoRequest({ isComplete, onAgain }: { isComplete: boolean; onAgain: () => void }) {
  const go = useGoToList();
  const { filter } = useLogSearch();
  const { name, value } = inWords(filter[0]?.name ?? "", filter[0]?.values[0] ?? "");
  return (
    <div className={css.message}>
      <p>
        {isComplete ? "No request under " : "The time for reading ran out before a request was found under "}
        {name}{" "}
        <strong>
          <bdi>{value}</bdi>
        </strong>
        .{isComplete && " The first one appears here by itself."}
      </p>
      {!isComplete && (
        <Button variant="default" size="compact-sm" onClick={onAgain}>
          again
        </Button>
      )}
      <Button variant="default" size="compact-sm" onClick={() => go({ ...ALL_NAMESPACES, pinned: "false" })}>
        all threads
      </Button>
    </div>
  );
}
