/** The menu of saved filters, in which a filter can be opened or deleted. */

import { Box, Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { savedFiltersQuery, useDeleteFilter } from "~/api/saved-filters";
import { describeSearch } from "~/domain/filter-text";
import { formatSearch, searchOf } from "~/domain/log-search";
import type { SavedFilterRow } from "~/generated/api-types";
import { AppLink, useFilterHref, useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import pageCss from "~/ui/page.module.css";
import { PopoverButton } from "~/ui/popover-button";
import { QuietButton } from "~/ui/quiet-button";

/** A button with the number of saved filters, and a list of them. */
export function SavedFiltersMenu() {
  const number = useQuery(savedFiltersQuery()).data?.length ?? 0;
  const label = (
    <>
      Saved&nbsp;
      {number > 0 && <span className="muted">{number}</span>}
    </>
  );
  return (
    <PopoverButton label={label} name="Saved filters" title="Saved filters" width={420} action="savedFilters">
      {(close) => <SavedFilters onSelect={close} />}
    </PopoverButton>
  );
}

function SavedFilters({ onSelect }: { onSelect: () => void }) {
  const { data: saved, error } = useQuery(savedFiltersQuery());
  const { filter } = useLogSearch();
  const [deleted, setDeleted] = useState<{ name: string; index: number }>();
  if (saved === undefined) return <p className="note">{error === null ? "Loading…" : error.message}</p>;
  if (saved.length === 0) {
    return (
      <p className="note" tabIndex={-1} ref={deleted && focus}>
        No saved filters yet. {filter.length === 0 ? "Filter the log, then select" : "Select"} <em>Save filter…</em>{" "}
        beside the filter. Everyone who uses this log sees the saved filters.
      </p>
    );
  }
  // The focus moves from a deleted filter to the next one.
  const isDeleted = deleted !== undefined && saved.every((one) => one.name !== deleted.name);
  const next = isDeleted ? Math.min(deleted.index, saved.length - 1) : undefined;
  return (
    <ul className={pageCss.list}>
      {saved.map((one, index) => (
        <Item
          key={one.name}
          saved={one}
          onSelect={onSelect}
          isNext={index === next}
          onDelete={() => setDeleted({ name: one.name, index })}
        />
      ))}
    </ul>
  );
}

type ItemProps = {
  saved: SavedFilterRow;
  onSelect: () => void;
  /** Whether the filter follows a deleted one, and gets the focus. */
  isNext: boolean;
  /** Called when the deletion starts. */
  onDelete: () => void;
};

function Item({ saved: { name, params }, onSelect, isNext, onDelete }: ItemProps) {
  const address = useFilterHref();
  const go = useLogNavigate();
  const { live: _, ...current } = useLogSearch();
  const [isAsking, setAsking] = useState(false);
  const deleteButton = useRef<HTMLButtonElement>(null);
  const cancel = () => {
    flushSync(() => setAsking(false));
    deleteButton.current?.focus();
  };
  const deletion = useDeleteFilter();
  const search = searchOf(params);
  const description = describeSearch(search);
  const isCurrent = formatSearch(search) === formatSearch(current);

  if (isAsking) {
    return (
      <li>
        <Group gap={8} wrap="nowrap" mih={34} role="group" aria-label={`Delete ${name}`}>
          <Box className="wrap-anywhere" flex={1} px={8} role={deletion.error === null ? undefined : "alert"}>
            {deletion.error?.message ?? (
              <>
                Delete <bdi className="strong">{name}</bdi> for everyone?
              </>
            )}
          </Box>
          <Button
            size="compact-sm"
            variant="default"
            loading={deletion.isPending}
            onClick={() => {
              onDelete();
              deletion.mutate(name);
            }}
          >
            Delete
          </Button>
          {/* The button that keeps the filter gets the focus, so that a second Enter does not delete it. */}
          <Button size="compact-sm" variant="default" ref={focus} onClick={cancel}>
            Cancel
          </Button>
        </Group>
      </li>
    );
  }
  return (
    <Group component="li" gap={8} wrap="nowrap" mih={34}>
      <AppLink
        ref={isNext ? focus : undefined}
        className={pageCss.option}
        href={address(search)}
        aria-current={isCurrent ? "true" : undefined}
        title={description}
        onFollow={() => {
          go({ search });
          onSelect();
        }}
      >
        <bdi className={pageCss.optionName}>{name}</bdi> <bdi className="muted">{description}</bdi>
      </AppLink>
      <QuietButton ref={deleteButton} label={`Delete ${name}…`} title="Delete…" onClick={() => setAsking(true)}>
        ×
      </QuietButton>
    </Group>
  );
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
