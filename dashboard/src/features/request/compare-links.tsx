/** Links that compare the open request with its previous turn and with the last successful request. */

import { Group } from "@mantine/core";
import { useRef } from "react";
import type { RequestDetail } from "~/generated/api-types";
import { AppLink, compareHref, LAST_GOOD } from "~/navigation/links";
import { shownKeys, useActions } from "~/ui/actions";
import pageCss from "~/ui/page.module.css";
import { hasTextSelection, isTextField } from "~/ui/shortcuts";
import css from "./request.module.css";
import { isOutsidePanel } from "./side-panel";
import { useTurn } from "./turn-navigation";

/** Links to comparisons of the request with its previous turn, if it has one, and with the last successful request. */
export function CompareLinks({ request }: { request: RequestDetail }) {
  const before = useTurn(request)?.before ?? null;
  return (
    <Group className={css.tags} gap="4px 12px" mih={26}>
      <span className="muted">Compare with</span>
      {before !== null && (
        <CompareLink action="compare" href={compareHref(before, request.id)}>
          the previous turn
        </CompareLink>
      )}
      <CompareLink action="compareLastGood" href={compareHref(LAST_GOOD, request.id)}>
        the last successful request with this prompt
      </CompareLink>
    </Group>
  );
}

type CompareLinkProps = { action: "compare" | "compareLastGood"; href: string; children: string };

function CompareLink({ action, href, children }: CompareLinkProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useActions((target) => {
    // While the next request loads, this is still the link of the previous request.
    const isOutdated = link.current?.closest("[data-waits]") !== null;
    // If two rows are selected, the action compares these rows.
    const isTaken = action === "compare" && document.querySelector("[data-compares-selected]") !== null;
    if (isOutdated || isTaken || isTextField(target) || hasTextSelection()) return {};
    return { [action]: () => link.current?.click() };
  }, isOutsidePanel);
  return (
    <AppLink ref={link} className={pageCss.value} href={href}>
      {children}{" "}
      <kbd className={css.key} aria-hidden="true">
        {shownKeys(action)}
      </kbd>
    </AppLink>
  );
}
