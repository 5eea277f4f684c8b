/** The menu that exports the filtered requests: formats, a download, and the command that writes the same file. */

import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { apiUrl } from "~/api/client";
import { PAGE } from "~/api/page-config";
import { exportCommand, exportParams, FILE_FORMATS, JSON_LINES } from "~/domain/export-file";
import { toApiParams } from "~/domain/log-search";
import { plural } from "~/format/number";
import type { RequestCount } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
import { CopyButton } from "~/ui/copy-button";
import css from "./export-menu.module.css";

/** The content of the menu. `matches` is undefined while the requests are counted. */
export function ExportMenu({ matches }: { matches: RequestCount | undefined }) {
  const search = useLogSearch();
  const [format, setFormat] = useState(JSON_LINES);
  const [bodies, setBodies] = useState(false);
  const file = { params: toApiParams(search), format, bodies };
  const command = exportCommand(file, window.location.origin + PAGE.base);
  return (
    <>
      <fieldset className={css.formats}>
        <legend>Export {countOf(matches)}</legend>
        {FILE_FORMATS.map((each) => (
          <label key={each.name}>
            <input
              type="radio"
              name="format"
              checked={each.name === format.name}
              aria-label={each.label}
              onChange={() => setFormat(each)}
            />
            <span>{each.label}</span>
            <span className="muted">{each.about}</span>
          </label>
        ))}
      </fieldset>
      {format.bodies === "optional" && (
        <label className={css.bodies}>
          <input type="checkbox" checked={bodies} onChange={(event) => setBodies(event.currentTarget.checked)} />
          With headers, prompts and responses
        </label>
      )}
      <Button component="a" variant="default" size="xs" my={10} href={apiUrl("export", exportParams(file))} download>
        Download
      </Button>
      <Group className={css.command} align="start" gap={6} wrap="nowrap" px={8} py={6}>
        <code>{command}</code>
        <CopyButton text={command} label="command" />
      </Group>
    </>
  );
}

function countOf(matches: RequestCount | undefined): string {
  if (matches === undefined) return "requests";
  return `${matches.complete ? "" : "at least "}${plural(matches.requests, "request")}`;
}
