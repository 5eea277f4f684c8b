/** The time range of the log: presets or two dates. */

import { Button, Group, Popover, TextInput } from "@mantine/core";
import { useState } from "react";
import type { TimeRange as Range } from "~/domain/filter";
import { formatTimeRange, parseTimestamp, RANGES } from "~/domain/time-range";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./filter-bar.module.css";

/** Which time is shown: one of a few spans up to now, or from one moment to another. */
export function TimeRange() {
  const search = useLogSearch();
  const go = useLogNavigate();
  const [isOpen, setOpen] = useState(false);
  const take = (range: Range) => {
    go({ search: { ...search, range } });
    setOpen(false);
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={280}
      trapFocus
      returnFocus
      withinPortal
      shadow="md"
    >
      <Popover.Target>
        <button type="button" className={css.button} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {formatTimeRange(search.range)} <span aria-hidden="true">▾</span>
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Time range">
        <div className={css.spans}>
          {RANGES.map(({ words, range }) => (
            <button
              key={words}
              type="button"
              className={css.span}
              aria-pressed={words === formatTimeRange(search.range)}
              onClick={() => take(range)}
            >
              {words}
            </button>
          ))}
        </div>
        <Between range={search.range} onTaken={take} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Between({ range, onTaken }: { range: Range; onTaken: (range: Range) => void }) {
  const [shown] = useState(() => ({ from: localText(range.from), to: localText(range.to) }));
  const [from, setFrom] = useState(shown.from);
  const [to, setTo] = useState(shown.to);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const isUntouched = from === shown.from && to === shown.to;
        // A relative end beside a new one means the moment that was shown.
        const kept = (text: string | undefined, isSame: boolean) =>
          isSame && (isUntouched || text?.startsWith("-") !== true) ? text : undefined;
        onTaken({
          ...end("from", kept(range.from, from === shown.from) ?? moment(from)),
          ...end("to", kept(range.to, to === shown.to) ?? moment(to)),
        });
      }}
    >
      <TextInput
        type="datetime-local"
        step={1}
        label="From"
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        step={1}
        label="To"
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Group justify="end" mt="xs">
        <Button type="submit" size="compact-sm" variant="default">
          Show
        </Button>
      </Group>
    </form>
  );
}

function end(name: "from" | "to", text: string | undefined): Range {
  return text === undefined ? {} : { [name]: text };
}

function moment(text: string): string | undefined {
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** A moment as the input wants it, in the reader's zone; empty where the API would not understand it either. */
function localText(text: string | undefined): string {
  const at = text === undefined ? undefined : parseTimestamp(text, new Date());
  if (at === undefined) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
