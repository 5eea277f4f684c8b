import { Button, Group, Popover, TextInput } from "@mantine/core";
import { useState } from "react";
import { useLogSearch } from "~/url/search-context";
import { useGo } from "~/url/use-go";
import type { TimeRange as Range } from "./filter";
import { RANGES, rangeInWords } from "./range-words";
import css from "./time-range.module.css";

/** Which time is shown: one of a few spans up to now, or from one moment to another. */
export function TimeRange() {
  const search = useLogSearch();
  const go = useGo();
  const [isOpen, setOpen] = useState(false);
  const take = (range: Range) => {
    go({ search: { ...search, range } });
    setOpen(false);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={280} trapFocus withinPortal shadow="md">
      <Popover.Target>
        <button type="button" className={css.button} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {rangeInWords(search.range)} <span aria-hidden="true">▾</span>
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Time range">
        <div className={css.spans}>
          {RANGES.map(({ words, range }) => (
            <button
              key={words}
              type="button"
              className={css.span}
              aria-pressed={words === rangeInWords(search.range)}
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
  const [from, setFrom] = useState(localText(range.from));
  const [to, setTo] = useState(localText(range.to));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onTaken({ ...moment("from", from), ...moment("to", to) });
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

function moment(name: "from" | "to", text: string): Range {
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? {} : { [name]: at.toISOString() };
}

/** A moment as the input wants it, in the reader's zone; relative ones have none. */
function localText(text: string | undefined): string {
  const at = new Date(text ?? "");
  if (text === undefined || text.startsWith("-") || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
