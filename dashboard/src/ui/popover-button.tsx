/** A button that opens a popover below it. */

import { Button, Popover } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type ActionId, useActions } from "./actions";

type Props = {
  /** The content of the button. */
  label: ReactNode;
  /** The accessible name of the popover. */
  name: string;
  /** The width of the popover and the height of the button, in pixels. */
  width: number;
  height?: number;
  /** The distance between the button and the popover, in pixels. */
  offset?: number;
  title?: string;
  /** The action that opens the popover. */
  action?: ActionId;
  /** The content of the popover. `close` closes it. */
  children: (close: () => void) => ReactNode;
};

/** A button that opens a popover below it. The focus moves into the popover, and returns when the popover closes. */
export function PopoverButton({ label, name, width, height = 32, offset = 8, title = "", action, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  useActions(() => (action === undefined ? {} : { [action]: () => setOpen(true) }));
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      offset={offset}
      width={`min(${width}px, calc(100vw - 24px))`}
      trapFocus
      returnFocus
      withinPortal
      shadow="md"
    >
      <Popover.Target>
        <Button
          title={title}
          variant="default"
          size="xs"
          flex="none"
          h={height}
          fw={400}
          fz="sm"
          rightSection={<span aria-hidden="true">▾</span>}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={name}>{children(() => setOpen(false))}</Popover.Dropdown>
    </Popover>
  );
}
