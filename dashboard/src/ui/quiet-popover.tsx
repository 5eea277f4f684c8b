/** A button without a border that opens a popover below it. */

import { Popover } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { type ActionId, useActions } from "./actions";
import { QuietButton } from "./quiet-button";

type Props = {
  text: string;
  /** The accessible name, if the text is not sufficient. */
  label?: string;
  /** The width of the popover in pixels. */
  width: number;
  /** The action that opens the popover. */
  action?: ActionId;
  /** The content of the popover. `close` closes it and returns the focus to the button. */
  children: (close: () => void) => ReactNode;
};

/** A button without a border that opens a popover. The focus moves into the popover, and returns when it closes. */
export function QuietPopover({ text, label, width, action, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useActions(() => (action === undefined ? {} : { [action]: () => setOpen(true) }));
  const close = () => {
    // Remove the popover first, because it keeps the focus while it is shown.
    flushSync(() => setOpen(false));
    button.current?.focus({ preventScroll: true });
  };
  return (
    <Popover
      opened={isOpen}
      onChange={(opened) => (opened ? setOpen(true) : close())}
      position="bottom-end"
      width={`min(${width}px, calc(100vw - 16px))`}
      trapFocus
      withinPortal
      shadow="md"
    >
      <Popover.Target>
        <QuietButton
          ref={button}
          label={label}
          title={label}
          aria-expanded={isOpen}
          onClick={() => (isOpen ? close() : setOpen(true))}
        >
          {text}
        </QuietButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={label ?? text}>{children(close)}</Popover.Dropdown>
    </Popover>
  );
}
