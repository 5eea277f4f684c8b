/** The time range of the log: a named range or two dates. */

import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { TimeRange as Range } from "~/domain/filter";
import { formatTimeRange, namedRanges, parseTimestamp, timeRangeTitle } from "~/domain/time-range";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { PopoverButton } from "~/ui/popover-button";

/** A button that shows the time range, and opens the menu to change it. */
export function TimeRange() {
  const search = useLogSearch();
  const go = useLogNavigate();
  const name = formatTimeRange(search.range);
  return (
    <PopoverButton label={timeRangeTitle(search.range)} name="Time range" width={280} action="timeRange">
      {(close) => {
        const select = (range: Range) => {
          go({ search: { ...search, range } });
          close();
        };
        return (
          <>
            <Stack gap={0} mb="xs">
              {namedRanges(new Date()).map((named) => (
                <Button
                  key={named.name}
                  variant="subtle"
                  color="gray"
                  c="var(--color-text)"
                  {...(named.name === name && { bg: "var(--accent-paper)" })}
                  size="compact-sm"
                  h={28}
                  fw={400}
                  justify="flex-start"
                  aria-pressed={named.name === name}
                  onClick={() => select(named.range)}
                >
                  {timeRangeTitle(named.range)}
                </Button>
              ))}
            </Stack>
            <CustomRange range={search.range} onSelect={select} />
          </>
        );
      }}
    </PopoverButton>
  );
}

function CustomRange({ range, onSelect }: { range: Range; onSelect: (range: Range) => void }) {
  const [initial] = useState(() => ({ from: inputValue(range.from), to: inputValue(range.to) }));
  const [from, setFrom] = useState(initial.from);
  const [to, setTo] = useState(initial.to);
  // Both are in the viewer's time zone and in the same format.
  const isReversed = from !== "" && to !== "" && from >= to;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReversed) return;
        const isUnchanged = from === initial.from && to === initial.to;
        // If only the other end was changed, a relative end becomes the timestamp that the input showed.
        const unchangedEnd = (text: string | undefined, isSame: boolean) =>
          isSame && (isUnchanged || text?.startsWith("-") !== true) ? text : undefined;
        onSelect({
          ...end("from", unchangedEnd(range.from, from === initial.from) ?? timestamp(from)),
          ...end("to", unchangedEnd(range.to, to === initial.to) ?? timestamp(to)),
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
        error={isReversed && `The end must be after ${from.replace("T", " ")}.`}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Group justify="end" mt="xs">
        <Button type="submit" size="compact-sm" variant="default" disabled={isReversed}>
          Apply
        </Button>
      </Group>
    </form>
  );
}

function end(name: "from" | "to", text: string | undefined): Range {
  return text === undefined ? {} : { [name]: text };
}

function timestamp(text: string): string | undefined {
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The value of a `datetime-local` input, in the viewer's time zone. Empty if the timestamp is invalid. */
function inputValue(text: string | undefined): string {
  const at = text === undefined ? undefined : parseTimestamp(text, new Date());
  if (at === undefined) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
