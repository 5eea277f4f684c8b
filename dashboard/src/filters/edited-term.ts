/** The filter value that is being edited in the query input. */

import { createContext } from "react";

/** A value of the filter. It stays in the filter until the query input replaces it. */
export type EditedTerm = { readonly name: string; readonly value: string; readonly negated: boolean };

export type TermEditing = {
  edited: EditedTerm | undefined;
  /** Put a value into the query input. `undefined` ends the editing. */
  edit: (term: EditedTerm | undefined) => void;
};

/** `undefined` on pages without a query input. */
export const TermEditingContext = createContext<TermEditing | undefined>(undefined);
