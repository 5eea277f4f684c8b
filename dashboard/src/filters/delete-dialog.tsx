/** Dialogs that explain a deletion and ask for confirmation. */

import { TextInput } from "@mantine/core";
import { useState } from "react";
import { useDeleteMatches, useDeleteRequest } from "~/api/deletions";
import { ApiError } from "~/domain/api-error";
import { count, plural } from "~/format/number";
import { Question } from "~/ui/dialog";
import { MatchesText, useMatches } from "./matches";
import { hiddenText, useRepeats } from "./repeats";

/** To delete more requests than this, the user must type how many they are. */
const MANY = 1000;

/** Deletes all finished requests that match the filter and started before the dialog was opened. */
export function DeleteMatchesDialog({ onClose }: { onClose: () => void }) {
  const matches = useMatches();
  const { found, requests } = matches;
  const running = found?.running ?? 0;
  const repeats = useRepeats(matches.search);
  const deletion = useDeleteMatches(matches.params);
  const [typed, setTyped] = useState("");
  const mustType = requests > MANY;
  const hasChanged = deletion.error instanceof ApiError && deletion.error.code === "wrong_count";
  const isConfirmed = requests > 0 && (!mustType || typed.replaceAll(/\D/g, "") === String(requests));
  const submit = () => {
    deletion.mutate(requests, {
      onSuccess: onClose,
      onError: () => {
        setTyped("");
        matches.countAgain();
      },
    });
  };
  return (
    <Question
      title={requests === 0 ? "Delete requests" : `Delete these ${plural(requests, "request")}`}
      action={`Delete ${plural(requests, "request")}`}
      color="red.9"
      error={matches.error ?? (hasChanged ? null : deletion.error)}
      canSubmit={isConfirmed}
      isPending={deletion.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <MatchesText {...matches} />
      {requests > 0 && <CannotBeUndone />}
      {repeats?.areShown === false && repeats.requests !== 0 && (
        <p>{hiddenText(repeats.requests)} They will not be deleted.</p>
      )}
      {running > 0 && (
        <p>{plural(running, "matching request is", "matching requests are")} still running and will not be deleted.</p>
      )}
      {hasChanged && (
        <p role="alert">The number of matching requests has changed. Check the new number, then delete again.</p>
      )}
      {mustType && (
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
