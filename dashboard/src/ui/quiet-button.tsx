/** A button without a border. */

import type { ReactNode, Ref } from "react";
import css from "./controls.module.css";

type Props = {
  children: ReactNode;
  onClick: () => void;
  /** The accessible name, if the visible content is not sufficient. */
  label?: string | undefined;
  title?: string | undefined;
  /** Whether the button does nothing. A disabled button can still be focused. */
  disabled?: boolean;
  /** Whether the button is selected, if it is one of several choices. */
  selected?: boolean | undefined;
  ref?: Ref<HTMLButtonElement>;
};

/** A button without a border, which looks like text. */
export function QuietButton({ children, onClick, label, title, disabled = false, selected, ref }: Props) {
  return (
    <button
      ref={ref}
      type="button"
      className={css.button}
      aria-label={label}
      title={title}
      aria-disabled={disabled || undefined}
      aria-pressed={selected}
      onClick={disabled ? undefined : onClick}
    >
      {children}
    </button>
  );
}
