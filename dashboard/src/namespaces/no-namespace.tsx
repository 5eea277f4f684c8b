import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { EVERYTHING } from "~/domain/log-search";
import { useGoToList } from "~/navigation/links";
import { ALL_NAMESPACES, type NamespaceList } from "~/navigation/list-search";
import { kindOf } from "./kind";
import css from "./page.module.css";

/** Why there is no row: nothing was ever logged, or nothing matches; then what would. */
export function NoNamespace({ list }: { list: NamespaceList }) {
  const go = useGoToList();
  const whole = { ...ALL_NAMESPACES, sort: list.sort };
  if (list.prefix !== "") {
    return (
      <div className={css.message}>
        <p>
          No {kindOf(list.pinned)} begins with{" "}
          <strong>
            <bdi>{list.prefix}</bdi>
          </strong>
          . Upper and lower case differ.
        </p>
        <Button variant="default" size="compact-sm" onClick={() => go({ ...list, prefix: "" })}>
          clear
        </Button>
        {list.pinned !== undefined && (
          <Button variant="default" size="compact-sm" onClick={() => go({ ...list, pinned: undefined })}>
            look at all namespaces
          </Button>
        )}
      </div>
    );
  }
  if (list.pinned !== undefined) {
    return (
      <div className={css.message}>
        <p>
          {list.pinned === "true"
            ? "No label yet. The star beside a namespace makes it one, for everybody who reads the log."
            : "No thread: all namespaces are labels, if there are any."}
        </p>
        <Button variant="default" size="compact-sm" onClick={() => go(whole)}>
          look at all namespaces
        </Button>
      </div>
    );
  }
  return (
    <div className={css.message}>
      <p>No namespace yet: the first request brings one, and it appears here by itself.</p>
      <Link to="/connect" search={EVERYTHING} className={css.link}>
        Connect a client
      </Link>
    </div>
  );
}
