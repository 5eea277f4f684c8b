/** Dialogs: a frame, and a dialog that asks for confirmation. */

import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";

type DialogProps = { title: string; onClose: () => void; children: ReactNode };

/** A modal dialog with a title and a button that closes the dialog. */
export function Dialog({ title, onClose, children }: DialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      lockScroll={false}
      // Without a role, its <header> would be another banner landmark of the page.
      attributes={{ header: { role: "presentation" } }}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}

type FormProps = {
  /** The text of the button that confirms. */
  action: string;
  /** The color of this button. */
  color?: string;
  error: Error | null;
  canSubmit: boolean;
  isPending: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
};

/** A dialog that asks for confirmation. */
export function Question({ title, ...form }: FormProps & { title: string }) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <QuestionForm {...form} />
    </Dialog>
  );
}

/** The content of a dialog that asks for confirmation. */
export function QuestionForm(props: FormProps) {
  const { action, color = "blue", error, canSubmit, isPending, onSubmit, onClose, children } = props;
  return (
    <Stack
      component="form"
      className="wrap-anywhere"
      gap={10}
      onSubmit={(event) => {
        event.preventDefault();
        if (canSubmit && !isPending) onSubmit();
      }}
    >
      {children}
      {error !== null && <p role="alert">{error.message}</p>}
      <Group justify="end" gap={8}>
        {/* This button has the focus, so that Enter confirms nothing. */}
        <Button data-autofocus variant="default" size="compact-md" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" color={color} size="compact-md" disabled={!canSubmit} loading={isPending}>
          {action}
        </Button>
      </Group>
    </Stack>
  );
}
