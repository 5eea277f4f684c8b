/** Dialogs that explain a deletion and ask for confirmation. */

import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { serverTime } from "~/api/client";
import { type Matches, matchesQuery, useDeleteMatches, useDeleteRequest } from "~/api/deletions";
import { ApiError } from "~/domain/api-error";
import { describeSearch } from "~/domain/filter-text";
import { toApiParams } from "~/domain/log-search";
import { fixedRange } from "~/domain/time-range";
import { count, plural } from "~/format/number";
import { useLogSearch } from "~/navigation/search-context";
import { Question } from "~/ui/dialog";

/** To delete more requests than this, the user must type how many they are. */
const MANY = 1000;

/** Deletes all finished requests that match the filter and started before the dialog was opened. */
export function DeleteMatchesDialog({ onClose }: { onClose: () => void }) {
  const current = useLogSearch();
  // The URL may change while the dialog is open. The text and the deletion use the search of when it was opened.
  const [search] = useState(current);
  const [params] = useState(() => toApiParams({ ...search, range: fixedRange(search.range, serverTime()) }));
  const counted = useQuery(matchesQuery(params));
  const deletion = useDeleteMatches(params);
  const [typed, setTyped] = useState("");
  const found = counted.isFetching ? undefined : counted.data;
  const requests = found?.requests ?? 0;
  const mustType = requests > MANY;
  const hasChanged = deletion.error instanceof ApiError && deletion.error.code === "wrong_count";
  const isConfirmed = requests > 0 && (!mustType || typed.replaceAll(/\D/g, "") === String(requests));
  const submit = () => {
    deletion.mutate(requests, {
      onSuccess: onClose,
      onError: () => {
        setTyped("");
        void counted.refetch();
      },
    });
  };
  return (
    <Question
      title={found === undefined || requests === 0 ? "Delete requests" : `Delete these ${plural(requests, "request")}`}
      action={`Delete ${plural(requests, "request")}`}
      color="red.9"
      error={counted.error ?? (hasChanged ? null : deletion.error)}
      canSubmit={isConfirmed}
      isPending={deletion.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="note">{describeSearch(search)}</p>
      {found === undefined && counted.error === null && <p role="status">Counting the requests…</p>}
      {found !== undefined && <Meaning found={found} />}
      {hasChanged && (
        <p role="alert">The number of matching requests has changed. Check the new number, then delete again.</p>
      )}
      {found !== undefined && mustType && (
        <TextInput
          label={`Type ${count(requests)} to delete ${plural(requests, "request")}`}
          autoComplete="off"
          inputMode="numeric"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </Question>
  );
}

function Meaning({ found: { requests, running } }: { found: Matches }) {
  return (
    <>
      {requests === 0 ? <p>No finished request matches.</p> : <CannotBeUndone />}
      {running > 0 && (
        <p>{plural(running, "matching request is", "matching requests are")} still running and will not be deleted.</p>
      )}
    </>
  );
}

function CannotBeUndone() {
  return (
    <p>
      A deletion cannot be undone. It affects everyone who uses this log. The requests are removed from all lists,
      counts and charts, and their bytes are erased from the disk. Backups and exported files are not changed.
    </p>
  );
}

type RequestProps = { id: string; onDeleted: () => void; onClose: () => void };

/** Deletes one finished request. */
export function DeleteRequestDialog({ id, onDeleted, onClose }: RequestProps) {
  const deletion = useDeleteRequest(id);
  return (
    <Question
      title="Delete this request"
      action="Delete"
      color="red.9"
      error={deletion.error}
      canSubmit
      isPending={deletion.isPending}
      onSubmit={() => deletion.mutate(undefined, { onSuccess: onDeleted })}
      onClose={onClose}
    >
      <p className="note">{id}</p>
      <CannotBeUndone />
    </Question>
  );
}
