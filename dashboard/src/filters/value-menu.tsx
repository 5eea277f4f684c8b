/** The menu of a hovered or focused value. */

import { Box, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { notPinned, usePin } from "~/api/namespaces";
import { countQuery } from "~/api/requests";
import { isConversationQuery } from "~/api/thread";
import { addValue, excludeValue, replaceValue, selectsThread } from "~/domain/filter";
import { describeValue } from "~/domain/filter-text";
import { count, plural } from "~/format/number";
import { ago } from "~/format/time";
import type { RequestCount } from "~/generated/api-types";
import { useLogNavigate, useThreadNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { toClipboard } from "~/ui/clipboard";
import { focusPage } from "~/ui/focus";
import { useNow } from "~/ui/timestamp";
import css from "./chips.module.css";
import { anchorOf } from "./filter-link";
import { useLabel } from "./labels";
import type { HoveredValue, ValueHover } from "./use-hovered-value";

/** The number of requests with the value, and actions: filter, pin, copy, open its conversation view. */
export function ValueMenu({ hovered, hover }: { hovered: HoveredValue; hover: ValueHover }) {
  const { name, value, at, link, menu: isOpened } = hovered;
  const { close } = hover;
  const search = useLogSearch();
  const go = useLogNavigate();
  const goToThread = useThreadNavigate();
  const label = useLabel(value);
  const pinning = usePin();
  const query = countQuery({ ...search, filter: replaceValue(search.filter, name, value) });
  // The count of a paused log is not read again, because the filter bar may show the same count.
  const found = useQuery(search.live === false ? { ...query, staleTime: Number.POSITIVE_INFINITY } : query);
  const matches = found.data;
  const text = describeValue(name, value);
  const isConversation = useQuery({
    ...isConversationQuery(replaceValue([], name, value)),
    enabled: selectsThread(name),
  }).data;

  const commit = (change: typeof replaceValue) => () => {
    const isExcluded = change === excludeValue;
    const anchor = anchorOf(link, isExcluded);
    go({ search: { ...search, filter: change(search.filter, name, value) }, anchor });
    close();
    if (isExcluded && isOpened && link.closest("[data-log]") !== null) focusRow(anchor?.id);
  };
  const openConversations = () => {
    goToThread(replaceValue([], name, value));
    close();
  };
  const togglePin = () => pinning.mutate({ namespace: value, pinned: label === undefined }, { onSuccess: close });
  const [isNotCopied, setNotCopied] = useState(false);
  const copy = () => void toClipboard(Promise.resolve(value)).then(close, () => setNotCopied(true));
  const failure = isNotCopied
    ? "Copying is blocked by the browser. Open a request with this value, and select the value there."
    : pinning.error && notPinned(pinning.variables, pinning.error);
  const counting = found.error === null ? "Counting…" : "The requests could not be counted.";

  return (
    <Menu
      opened
      onClose={close}
      position="bottom-start"
      offset={4}
      trapFocus={isOpened}
      returnFocus={false}
      withInitialFocusPlaceholder={false}
      closeOnClickOutside
      withinPortal
      shadow="md"
      width={236}
    >
      <Menu.Target>
        <span
          style={{
            position: "fixed",
            pointerEvents: "none",
            left: at.left,
            top: at.top,
            width: at.width,
            height: at.height,
          }}
          aria-hidden="true"
        />
      </Menu.Target>
      <Menu.Dropdown
        className={css.card}
        data-hover={isOpened ? undefined : ""}
        onMouseEnter={hover.keepOpen}
        onMouseLeave={isOpened ? undefined : close}
        aria-label={`${text.name} ${text.value}`}
      >
        <Box className="small muted" px={10} pt={4} pb={6}>
          {failure ?? (matches === undefined ? counting : <MatchCount matches={matches} />)}
        </Box>
        <Menu.Item data-autofocus onClick={commit(replaceValue)} rightSection={<kbd>click</kbd>}>
          Only this {text.name}
        </Menu.Item>
        <Menu.Item onClick={commit(addValue)} rightSection={<kbd>Alt-click</kbd>}>
          Add to filter
        </Menu.Item>
        <Menu.Item onClick={commit(excludeValue)} rightSection={<kbd>Shift-click</kbd>}>
          Exclude
        </Menu.Item>
        {name === "namespace" && (
          <Menu.Item onClick={togglePin} closeMenuOnClick={false}>
            {label === undefined ? "Pin" : "Unpin"}
          </Menu.Item>
        )}
        <Menu.Item onClick={copy} closeMenuOnClick={false}>
          Copy
        </Menu.Item>
        {/* This item is last, because it appears when the response arrives and must not move the other items. */}
        {isConversation && <Menu.Item onClick={openConversations}>Open conversation view</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Move the focus to a row that stays in the log, or to the log if there is no such row. */
function focusRow(id = ""): void {
  const row = document.querySelector<HTMLElement>(`tr[data-request="${CSS.escape(id)}"] a[data-open]`);
  if (row === null) focusPage();
  else row.focus({ preventScroll: true });
}

function MatchCount({ matches }: { matches: RequestCount }) {
  const now = useNow();
  return (
    <>
      {matches.complete ? "" : "At least "}
      {plural(matches.requests, "request")}
      {matches.failed > 0 && `, ${count(matches.failed)} failed`}
      {matches.last_at !== null && `, latest ${ago(matches.last_at, now)}`}
    </>
  );
}
