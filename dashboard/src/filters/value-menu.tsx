/** The menu of a hovered or focused value. */

import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { notPinned, usePin } from "~/api/namespaces";
import { countQuery } from "~/api/requests";
import { addValue, describeValue, excludeValue, replaceValue } from "~/domain/filter";
import { count, plural } from "~/format/number";
import { ago } from "~/format/time";
import type { RequestCount } from "~/generated/api-types";
import { useLogNavigate, useThreadNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { toClipboard } from "~/ui/clipboard";
import { useNow } from "~/ui/timestamp";
import css from "./chips.module.css";
import { anchorOf } from "./filter-link";
import { useLabel } from "./labels";
import type { HoveredValue } from "./use-hovered-value";

type Props = { pointed: HoveredValue; onClose: () => void; onPointerInside: () => void; onPointerLeft: () => void };

/** What a value somebody points at would find, and all that can be done with it. */
export function ValueMenu({ pointed, onClose, onPointerInside, onPointerLeft }: Props) {
  const { name, value, at, link } = pointed;
  const search = useLogSearch();
  const go = useLogNavigate();
  const goToThread = useThreadNavigate();
  const label = useLabel(value);
  const pinning = usePin();
  const found = useQuery(countQuery({ ...search, filter: replaceValue(search.filter, name, value) })).data;
  const words = describeValue(name, value);

  const commit = (change: typeof replaceValue) => () => {
    go({
      search: { ...search, filter: change(search.filter, name, value) },
      anchor: anchorOf(link, change === excludeValue),
    });
    onClose();
  };
  const openThread = () => {
    goToThread(replaceValue([], name, value));
    onClose();
  };
  const togglePin = () => pinning.mutate({ namespace: value, pinned: label === undefined }, { onSuccess: onClose });
  const [isNotCopied, setNotCopied] = useState(false);
  const copy = () => void toClipboard(Promise.resolve(value)).then(onClose, () => setNotCopied(true));
  const failure = isNotCopied
    ? "This browser lets no page copy here: mark the value in the request's detail."
    : pinning.error && notPinned(pinning.variables, pinning.error);

  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-start"
      offset={4}
      trapFocus={pointed.menu}
      returnFocus={false}
      withInitialFocusPlaceholder={false}
      closeOnClickOutside
      withinPortal
      shadow="md"
      width={236}
    >
      <Menu.Target>
        <span
          className={css.target}
          style={{ left: at.left, top: at.top, width: at.width, height: at.height }}
          aria-hidden="true"
        />
      </Menu.Target>
      <Menu.Dropdown
        className={css.card}
        data-hover={pointed.menu ? undefined : ""}
        onMouseEnter={onPointerInside}
        onMouseLeave={pointed.menu ? undefined : onPointerLeft}
        aria-label={`${words.name} ${words.value}`}
      >
        <div className={css.found}>{failure ?? (found === undefined ? "counting…" : <MatchCount found={found} />)}</div>
        <Menu.Item data-autofocus onClick={commit(replaceValue)} rightSection={<kbd>click</kbd>}>
          only this {words.name}
        </Menu.Item>
        <Menu.Item onClick={commit(addValue)} rightSection={<kbd>Alt</kbd>}>
          also this one
        </Menu.Item>
        <Menu.Item onClick={commit(excludeValue)} rightSection={<kbd>Shift</kbd>}>
          not this one
        </Menu.Item>
        {(name === "namespace" || name.startsWith("property.")) && (
          <Menu.Item onClick={openThread}>open thread</Menu.Item>
        )}
        {name === "namespace" && (
          <Menu.Item onClick={togglePin} closeMenuOnClick={false} rightSection={<kbd>p</kbd>}>
            {label === undefined ? "pin as a label" : "unpin: make it a thread"}
          </Menu.Item>
        )}
        <Menu.Item onClick={copy} closeMenuOnClick={false}>
          copy
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function MatchCount({ found }: { found: RequestCount }) {
  const now = useNow();
  return (
    <>
      {found.complete ? "" : "at least "}
      {plural(found.requests, "request")}
      {found.failed > 0 && `, ${count(found.failed)} failed`}
      {found.last_at !== null && `, last ${ago(found.last_at, now)}`}
    </>
  );
}
