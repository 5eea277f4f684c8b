/** The button that opens the dialog for deleting a request. */

import { Suspense } from "react";
import { lazyPart } from "~/ui/lazy-part";
import { QuietButton } from "~/ui/quiet-button";
import { useDialog } from "~/ui/use-dialog";

const DeleteRequestDialog = lazyPart(() => import("./delete-dialog").then((dialog) => dialog.DeleteRequestDialog));

type Props = {
  id: string;
  isRunning: boolean;
  /** Whether another request is loading, which will replace this one. */
  isOutdated?: boolean;
  onDeleted: () => void;
};

/** A button that deletes one request. */
export function DeleteRequestButton({ id, isRunning, isOutdated = false, onDeleted }: Props) {
  const { isOpen, open, close } = useDialog();
  return (
    <>
      <QuietButton
        disabled={isRunning || isOutdated}
        title={isRunning ? "A running request can be deleted when it has ended." : undefined}
        onClick={open}
      >
        Delete this request…
      </QuietButton>
      <Suspense>{isOpen && <DeleteRequestDialog id={id} onDeleted={onDeleted} onClose={close} />}</Suspense>
    </>
  );
}
