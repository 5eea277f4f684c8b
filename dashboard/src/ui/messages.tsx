/** Messages shown instead of content. */

import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { isUnreachable } from "~/domain/api-error";
import css from "./text.module.css";

export type Action = { label: string; onClick: () => void };

type MessageProps = { children: ReactNode; actions?: readonly Action[]; isError?: boolean };

/** The reason why there is nothing to show, with buttons for the next step. */
export function Message({ children, actions = [], isError = false }: MessageProps) {
  return (
    <div className={css.message} role={isError ? "alert" : undefined}>
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
    </div>
  );
}

/** Below an error of a query: whether requests are still being logged, as far as the page knows. */
export function StillLogged({ error }: { error: Error }) {
  return <p>{isUnreachable(error) ? "Retrying…" : "Requests are still being logged."}</p>;
}
