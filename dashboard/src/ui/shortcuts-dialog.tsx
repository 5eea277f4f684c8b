/** The dialog with all keyboard shortcuts. */

import { Box, Stack } from "@mantine/core";
import { ACTIONS, IDS, keysOf, shownKeys } from "./actions";
import css from "./controls.module.css";
import { Dialog } from "./dialog";

/** Keys and gestures that are not actions. */
const OTHERS = [
  ["1 – 9", "Filter by a pinned namespace"],
  ["Ctrl+K, ⌘K", "Command palette: all actions, pages, saved filters, namespaces and requests"],
  ["Home, End", "In the conversation view: go to the first or last turn"],
  ["Shift-click a checkbox", "Select a range of rows"],
  ["j, k", "In a comparison: next and previous difference"],
  ["Alt-click, Shift-click", "Add a value to the filter; exclude a value"],
  ["Alt+↑, Alt+↓", "In the menu of columns: move a column"],
] as const;

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ...IDS.filter((id) => keysOf(id).length > 0).map((id) => [shownKeys(id).join("  "), ACTIONS[id].name] as const),
  ...OTHERS,
];

/** Examples of the query language. */
const EXAMPLES = [
  ['refund "not sent" -late', "Contains refund and the phrase, but not late"],
  ["model:gpt-4o* -status:error", "Model begins with gpt-4o, and the request did not fail"],
  ["duration:>2s cost:>0.01", "Longer than 2 seconds and more expensive than $0.01"],
] as const;

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className={css.keys}>
        {KEYS.map(([keys, does]) => (
          <div key={keys} style={{ display: "contents" }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd className="muted">{does}</dd>
          </div>
        ))}
      </dl>
      <Box component="h3" mt={18} mb={8} fz={13}>
        Search syntax
      </Box>
      <Stack component="dl" gap={8} mb={8}>
        {EXAMPLES.map(([written, finds]) => (
          <div key={written}>
            <dt>
              <code>{written}</code>
            </dt>
            <dd className="muted">{finds}</dd>
          </div>
        ))}
      </Stack>
    </Dialog>
  );
}
