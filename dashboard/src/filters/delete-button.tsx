/** Buttons that open the dialogs for deleting requests. */

import { type ReactNode, Suspense } from "react";
import { useLogSearch } from "~/navigation/search-context";
import { lazyPart } from "~/ui/lazy-part";
import { QuietButton } from "~/ui/quiet-button";
import { useDialog } from "~/ui/use-dialog";

const DeleteMatchesDialog = lazyPart(() => import("./delete-dialog").then((dialog) => dialog.DeleteMatchesDialog));
const DeleteRequestDialog = lazyPart(() => import("./delete-dialog").then((dialog) => dialog.DeleteRequestDialog));

/** A button that deletes the requests of a filtered log. It is not shown if the log is not filtered. */
export function DeleteMatchesButton() {
  const { filter, range } = useLogSearch();
  if (filter.length === 0 && Object.keys(range).length === 0) return null;
  return (
    <DialogButton label="Delete these requests…" text="Delete…">
      {(close) => <DeleteMatchesDialog onClose={close} />}
    </DialogButton>
  );
}

type Props = {
  id: string;
  isRunning: boolean;
  /** Whether another request is loading, which will replace this one. */
  isOutdated?: boolean;
  onDeleted: () => void;
};

/** A button that deletes one request. */
export function DeleteRequestButton({ id, isRunning, isOutdated = false, onDeleted }: Props) {
  return (
    <DialogButton
      text="Delete this request…"
      disabled={isRunning || isOutdated}
      title={isRunning ? "A running request can be deleted when it has ended." : undefined}
    >
      {(close) => <DeleteRequestDialog id={id} onDeleted={onDeleted} onClose={close} />}
    </DialogButton>
  );
}

type ButtonProps = {
  text: string;
  label?: string;
  title?: string | undefined;
  disabled?: boolean;
  children: (close: () => void) => ReactNode;
};

function DialogButton({ text, label, title = label, disabled = false, children }: ButtonProps) {
  const { isOpen, open, close } = useDialog();
  return (
    <>
      <QuietButton label={label} title={title} disabled={disabled} onClick={open}>
        {text}
      </QuietButton>
      <Suspense>{isOpen && children(close)}</Suspense>
    </>
  );
}
