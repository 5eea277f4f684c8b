/** The menu to select a thread by the beginning of its name. */

import { Popover, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { threadsQuery } from "~/api/namespaces";
import { useStatus } from "~/api/status";
import { count, plural } from "~/format/number";
import { ago } from "~/format/time";
import type { Namespace } from "~/generated/api-types";
import { useNow } from "~/ui/timestamp";
import { NamespaceChip } from "./chips";
import css from "./namespace-bar.module.css";

/** Namespaces that are not pinned: their number, and a list to search, most recent first. */
export function ThreadsMenu() {
  const [isOpen, setOpen] = useState(false);
  const threads = useStatus((status) => status.namespaces - status.labels) ?? null;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={380} trapFocus withinPortal shadow="md">
      <Popover.Target>
        <button type="button" className={css.threads} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Threads <span className={css.count}>{count(threads)}</span> <span aria-hidden="true">▾</span>
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Threads">
        <ThreadList onChosen={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function ThreadList({ onChosen }: { onChosen: () => void }) {
  const [typed, setTyped] = useState("");
  const [prefix] = useDebouncedValue(typed, 120);
  const found = useQuery(threadsQuery(prefix)).data?.data;
  return (
    <>
      <TextInput
        data-autofocus
        label="Threads: namespaces that are not pinned"
        placeholder="begins with…"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links in the list are what keys reach */}
      <ul className={css.list} onClick={(event) => (event.target as Element).closest("a") && onChosen()}>
        {found?.map((thread) => (
          <Thread key={thread.namespace} thread={thread} />
        ))}
      </ul>
      {found?.length === 0 && (
        <p>{prefix === "" ? "No namespace but the labels yet." : `No thread begins with ${JSON.stringify(prefix)}.`}</p>
      )}
    </>
  );
}

function Thread({ thread }: { thread: Namespace }) {
  const now = useNow();
  return (
    <li>
      <NamespaceChip namespace={thread.namespace} />
      <span>
        {plural(thread.requests, "request")}
        {thread.failed > 0 && `, ${count(thread.failed)} failed`}
        {thread.last_at !== null && `, ${ago(thread.last_at, now)}`}
      </span>
    </li>
  );
}
