/** The dialog that reads the stored bodies of the filtered requests again, and shows the progress. */

import { Button, Group, Progress, Stack } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { rereadQuery, useRequestReread } from "~/api/rereads";
import { count, plural } from "~/format/number";
import type { RereadRow } from "~/generated/api-types";
import { Dialog, QuestionForm } from "~/ui/dialog";
import { MatchesText, useMatches } from "./matches";

/**
 * Reads all finished requests again that match the filter and started before the dialog was opened. If a reread is
 * already running, the dialog shows its progress instead.
 */
export function RereadDialog({ onClose }: { onClose: () => void }) {
  const matches = useMatches();
  const request = useRequestReread(matches.params);
  const { data: reread, error } = useQuery(rereadQuery());
  // A reread that was done before the dialog was opened is not shown.
  const [shown, setShown] = useState<string>();
  if (reread?.state === "reading" && reread.id !== shown) setShown(reread.id);
  if (reread && reread.id === shown) {
    return (
      <Dialog title="Read requests again" onClose={onClose}>
        <RereadProgress reread={reread} error={error} onClose={onClose} />
      </Dialog>
    );
  }
  const { requests } = matches;
  return (
    <Dialog title="Read requests again" onClose={onClose}>
      <QuestionForm
        action={`Read ${plural(requests, "request")} again`}
        error={matches.error ?? request.error ?? error}
        canSubmit={requests > 0}
        isPending={request.isPending}
        onSubmit={() => request.mutate()}
        onClose={onClose}
      >
        <p>
          Relaybook reads the stored bodies of the matching requests again, with the formats and prices of the running
          version. Fields, previews, search, counts and charts then have the new results, for everyone who uses this
          log. Bodies, headers, namespace, properties and feedback do not change.
        </p>
        <MatchesText {...matches} />
      </QuestionForm>
    </Dialog>
  );
}

type ProgressProps = { reread: RereadRow; error: Error | null; onClose: () => void };

function RereadProgress({ reread, error, onClose }: ProgressProps) {
  const { requests, read } = reread;
  const isDone = reread.state === "done";
  return (
    <Stack className="wrap-anywhere" gap={10}>
      {!isDone && (
        <>
          <p>
            {count(read)} of {plural(requests, "request")} read
          </p>
          <Progress value={requests === 0 ? 0 : Math.min(100, (100 * read) / requests)} aria-label="Requests read" />
          <p className="note">
            You can close this dialog. The server continues to read, and a line above the page shows the progress.
          </p>
        </>
      )}
      <div role="status">{isDone && resultOf(reread)}</div>
      {error !== null && <p role="alert">{error.message}</p>}
      <Group justify="end">
        <Button data-autofocus ref={takeFocus} variant="default" size="compact-md" onClick={onClose}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}

function resultOf({ read, changed }: RereadRow): string {
  const text = plural(read, "request was", "requests were");
  if (changed === 0) return `${text} read again. No results have changed.`;
  return `${text} read again, and ${count(changed)} ${changed === 1 ? "has" : "have"} new results.`;
}

/** The button that was pressed before is gone. */
function takeFocus(button: HTMLElement | null): void {
  button?.focus();
}
