/** A button without a border. */

import type { ComponentProps } from "react";
import css from "./controls.module.css";

type Props = Omit<ComponentProps<"button">, "disabled"> & {
  /** The accessible name, if the visible content is not sufficient. */
  label?: string | undefined;
  /** Whether the button does nothing. A disabled button can still be focused. */
  disabled?: boolean;
  /** Whether the button is selected, if it is one of several choices. */
  selected?: boolean | undefined;
};

/** A button without a border, which looks like text. */
export function QuietButton({ label, disabled = false, selected, className, onClick, ...attributes }: Props) {
  return (
    <button
      type="button"
      className={`${css.button} ${className ?? ""}`}
      aria-label={label}
      aria-disabled={disabled || undefined}
      aria-pressed={selected}
      onClick={disabled ? undefined : onClick}
      {...attributes}
    />
  );
}
