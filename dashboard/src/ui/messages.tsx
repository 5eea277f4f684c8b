/** Messages shown instead of content. */

import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError, isUnreachable } from "~/domain/api-error";

export type Action = { label: string; onClick: () => void };

type MessageProps = { children: ReactNode; actions?: readonly Action[]; isError?: boolean };

/** The reason why there is nothing to show, with buttons for the next step. */
export function Message({ children, actions = [], isError = false }: MessageProps) {
  return (
    <Stack gap={14} maw={640} mx="auto" mt={64} px={20} pb={20} fz={14} role={isError ? "alert" : undefined}>
      {children}
      {actions.length > 0 && (
        <Group gap={8}>
          {actions.map(({ label, onClick }) => (
            <Button key={label} variant="default" size="compact-sm" onClick={onClick}>
              {label}
            </Button>
          ))}
        </Group>
      )}
    </Stack>
  );
}

type ReadErrorProps = {
  error: Error;
  /** What could not be read, as the beginning of a sentence: `The list`. */
  subject: string;
  onRetry: () => void;
  /** Said before the message of the API if the API rejects the address. */
  invalid?: string;
  /** Shown if the API rejects the address. */
  action: Action;
};

/** An error of a query: what could not be read and why, whether requests are still logged, and the next step. */
export function ReadError({ error, subject, onRetry, invalid, action }: ReadErrorProps) {
  const isInvalid = error instanceof ApiError && error.status === 400;
  return (
    <Message isError actions={[isInvalid ? action : { label: "Retry", onClick: onRetry }]}>
      <p>{[isInvalid ? invalid : `${subject} could not be read`, error.message].filter(Boolean).join(": ")}</p>
      {!isInvalid && <StillLogged error={error} />}
    </Message>
  );
}

/** Shown below the error of a query. Says whether requests are still being logged, as far as the page knows. */
function StillLogged({ error }: { error: Error }) {
  return <p>{isUnreachable(error) ? "Retrying…" : "Requests are still being logged."}</p>;
}

/** A line above the page that says what the server is doing. Without text, nothing is shown. */
export function ProgressNotice({ text }: { text: string }) {
  return <div role="status">{text !== "" && <div className="notice bottom-line">{text}</div>}</div>;
}
