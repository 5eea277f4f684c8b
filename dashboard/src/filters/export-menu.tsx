/** The menu that exports the filtered requests: formats, a download, and the command that writes the same file. */

import { Box, Button, Group, Stack } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { apiUrl } from "~/api/client";
import { PAGE } from "~/api/page-config";
import { exportCommand, exportParams, FILE_FORMATS, JSON_LINES } from "~/domain/export-file";
import { toApiParams } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import type { RequestCount } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
import { CopyButton } from "~/ui/copy-button";

type Props = {
  /** `undefined` while the requests are counted. */
  matches: RequestCount | undefined;
  selected?: readonly string[] | undefined;
};

/** The API accepts at most this many ids. */
const MAX_IDS = 1_000;

/** The content of the menu. If requests are selected, the user chooses whether only these are exported. */
export function ExportMenu({ matches, selected = [] }: Props) {
  const search = useLogSearch();
  const [format, setFormat] = useState(JSON_LINES);
  const [bodies, setBodies] = useState(false);
  const hasChoice = selected.length > 0;
  const [isOnlySelected, setOnlySelected] = useState(hasChoice && selected.length <= MAX_IDS);
  const isSelection = isOnlySelected && hasChoice;
  const params = isSelection ? selected.map((id) => ["id", id] as const) : toApiParams(search);
  const file = { params, format, bodies };
  const command = exportCommand(file, window.location.origin + PAGE.base);
  return (
    <>
      {hasChoice && (
        <Group component="fieldset" gap={16} m={0} mb={12} p={0} bd={0}>
          <legend className="visually-hidden">Which requests</legend>
          <Choice isChosen={isSelection} isPossible={selected.length <= MAX_IDS} onChoose={() => setOnlySelected(true)}>
            {count(selected.length)} selected
            {selected.length > MAX_IDS && <span className="muted"> (at most {count(MAX_IDS)})</span>}
          </Choice>
          <Choice isChosen={!isSelection} onChoose={() => setOnlySelected(false)}>
            all {countOf(matches)}
          </Choice>
        </Group>
      )}
      <Stack component="fieldset" gap={6} m={0} p={0} bd={0}>
        <Box component="legend" mb={6} p={0} fw={600}>
          Export {isSelection ? plural(selected.length, "selected request") : countOf(matches)}
        </Box>
        {FILE_FORMATS.map((each) => (
          <Group key={each.name} component="label" align="baseline" gap={8} wrap="nowrap">
            <input
              type="radio"
              name="format"
              checked={each.name === format.name}
              aria-label={each.label}
              onChange={() => setFormat(each)}
            />
            <Box component="span" flex="0 0 84px">
              {each.label}
            </Box>
            <span className="muted">{each.about}</span>
          </Group>
        ))}
      </Stack>
      {format.bodies === "optional" && (
        <Group component="label" align="baseline" gap={8} mt={10} wrap="nowrap">
          <input type="checkbox" checked={bodies} onChange={(event) => setBodies(event.currentTarget.checked)} />
          With HTTP headers, prompts and responses
        </Group>
      )}
      <Button component="a" variant="default" size="xs" my={10} href={apiUrl("export", exportParams(file))} download>
        Download
      </Button>
      <Group
        align="start"
        gap={6}
        wrap="nowrap"
        px={8}
        py={6}
        bd="1px solid var(--color-border)"
        bg="var(--color-bg-subtle)"
      >
        <Box component="code" className="mono" flex={1} mah={120} style={{ overflowY: "auto" }}>
          {command}
        </Box>
        <CopyButton text={command} label="command" />
      </Group>
    </>
  );
}

function countOf(matches: RequestCount | undefined): string {
  if (matches === undefined) return "requests";
  return `${matches.complete ? "" : "at least "}${plural(matches.requests, "request")}`;
}

type ChoiceProps = { isChosen: boolean; isPossible?: boolean; onChoose: () => void; children: ReactNode };

function Choice({ isChosen, isPossible = true, onChoose, children }: ChoiceProps) {
  return (
    <Group component="label" gap={8} wrap="nowrap">
      <input type="radio" name="requests" checked={isChosen} disabled={!isPossible} onChange={onChoose} />
      <span>{children}</span>
    </Group>
  );
}
