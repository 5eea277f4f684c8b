import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import { useGoToList } from "~/navigation/links";
import { ALL_PROPERTIES } from "~/navigation/list-search";
import css from "./page.module.css";

/** Why there is no property: none begins like that, or no request ever had one; then how to send one. */
export function NoProperty({ prefix }: { prefix: string }) {
  const go = useGoToList();
  const told = useQuery(statusQuery()).data?.settings.header_prefix;
  const headers = Array.isArray(told) ? String(told[0]) : "Service";
  if (prefix === "") {
    return (
      <div className={css.message}>
        <p>
          No property yet. A request brings them in headers, such as <code>{headers}-Property-Channel: iOS</code>, or in
          the <code>metadata</code> of its body.
        </p>
      </div>
    );
  }
  return (
    <div className={css.message}>
      <p>
        No property begins with{" "}
        <strong>
          <bdi>{prefix}</bdi>
        </strong>
        . Their names are in lower case, with hyphens.
      </p>
      <Button variant="default" size="compact-sm" onClick={() => go(ALL_PROPERTIES)}>
        clear
      </Button>
    </div>
  );
}
