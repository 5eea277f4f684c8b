/** The menu of all namespaces, searched by a part of their names. */

import { Box, Group, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";
import { recentNamespacesQuery } from "~/api/namespaces";
import { useStatus } from "~/api/status";
import { replaceValue } from "~/domain/filter";
import { substringPattern } from "~/domain/search-pattern";
import { count, plural } from "~/format/number";
import { ago } from "~/format/time";
import type { Namespace } from "~/generated/api-types";
import { useLogNavigate } from "~/navigation/links";
import { useLatestSearch } from "~/navigation/search-context";
import { HighlightContext } from "~/ui/highlight";
import pageCss from "~/ui/page.module.css";
import { PopoverButton } from "~/ui/popover-button";
import { useNow } from "~/ui/timestamp";
import { NamespaceChip } from "./chips";
import css from "./namespace-bar.module.css";

/** A button with the number of namespaces, and a list of them, most recent first. */
export function NamespacesMenu() {
  const namespaces = useStatus((status) => status.namespaces);
  const label = (
    <>
      <span className={css.wide}>All namespaces</span>
      <span className={css.narrow} aria-hidden="true">
        Namespaces
      </span>
      &nbsp;<span className="count">{count(namespaces ?? null)}</span>
    </>
  );
  return (
    <PopoverButton label={label} name="All namespaces" width={420} height={28} offset={2}>
      {(close) => <NamespaceList onSelect={close} />}
    </PopoverButton>
  );
}

/** In the field, Enter opens the first namespace of the list. The arrow keys move between the field and the links. */
function NamespaceList({ onSelect }: { onSelect: () => void }) {
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed, 120);
  const namespaces = useQuery(recentNamespacesQuery(text)).data?.data;
  const client = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const searchAtEnd = useLatestSearch();
  const go = useLogNavigate();
  /** The list may still be that of a shorter text. */
  const openFirst = async () => {
    const first = (await client.fetchQuery(recentNamespacesQuery(typed)).catch(() => undefined))?.data[0];
    if (first === undefined || field.current?.value !== typed) return;
    const search = searchAtEnd();
    go({ search: { ...search, filter: replaceValue(search.filter, "namespace", first.namespace) } });
    onSelect();
  };
  const handleKey = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
    stops[stops.indexOf(event.target as HTMLElement) + by]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move the focus between the elements inside
    <div onKeyDown={handleKey}>
      <TextInput
        ref={field}
        data-autofocus
        mb={8}
        aria-label="All namespaces that contain"
        placeholder="Contains…"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={({ key, nativeEvent }) => {
          if (key === "Enter" && !nativeEvent.isComposing && typed !== "") void openFirst();
        }}
      />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links in the list are reached by keyboard */}
      <ul className={pageCss.list} onClick={(event) => (event.target as Element).closest("a") && onSelect()}>
        <HighlightContext value={substringPattern(text)}>
          {namespaces?.map((namespace) => (
            <ListItem key={namespace.namespace} namespace={namespace} />
          ))}
        </HighlightContext>
      </ul>
      {namespaces?.length === 0 && (
        <Box component="p" my={13}>
          {text === "" ? "No namespaces yet." : `No namespaces contain ${JSON.stringify(text)}.`}
        </Box>
      )}
    </div>
  );
}

function ListItem({ namespace: { namespace, requests, failed, last_at } }: { namespace: Namespace }) {
  const now = useNow();
  return (
    <Group component="li" justify="space-between" gap={10} wrap="nowrap" mih={30}>
      <NamespaceChip namespace={namespace} />
      <span className="muted nowrap">
        {plural(requests, "request")}
        {failed > 0 && `, ${count(failed)} failed`}
        {last_at !== null && `, ${ago(last_at, now)}`}
      </span>
    </Group>
  );
}
