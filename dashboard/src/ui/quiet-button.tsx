/** A button without a border. */

import type { ReactNode } from "react";
import css from "./controls.module.css";

type Props = {
  children: ReactNode;
  onClick: () => void;
  /** Its name, where what it shows is not enough. */
  label?: string | undefined;
  /** It stays where it is and can be reached, but does nothing. */
  disabled?: boolean;
  /** One of several of which some are chosen. */
  selected?: boolean | undefined;
};

/** A word that does something, without a frame of its own. */
export function QuietButton({ children, onClick, label, disabled = false, selected }: Props) {
  return (
    <button
      type="button"
      className={css.button}
      aria-label={label}
      aria-disabled={disabled || undefined}
      aria-pressed={selected}
      onClick={disabled ? undefined : onClick}
    >
      {children}
    </button>
  );
}
