/** The dialog with all keyboard shortcuts. */

import { Box, Stack } from "@mantine/core";
import css from "./controls.module.css";
import { Dialog } from "./dialog";

const KEYS = [
  ["j  k  ↓  ↑", "Next and previous request"],
  ["Enter", "Open the request"],
  ["x", "Select the row; Shift-click a checkbox to select a range"],
  ["Shift+x", "Select all loaded requests, or none"],
  ["n", "Filter by the namespace of the row"],
  ["t", "Conversation view of the open request"],
  ["+, -", "Give feedback on the open request: good or bad"],
  ["m", "Open the menu of a value: filter, pin, copy, conversation view"],
  ["p", "Pin or unpin the namespace of the row"],
  ["1 – 9, 0", "Select a pinned namespace; show all namespaces"],
  ["/", "Search"],
  ["Ctrl+K, ⌘K", "Command palette: go to a page, saved filter, namespace or request"],
  ["Backspace", "Remove the last filter"],
  ["Home", "Go to the newest request, or to the first turn in the conversation view"],
  ["End", "Go to the last turn in the conversation view"],
  ["l", "Pause or resume updates"],
  ["Alt-click, Shift-click", "Add a value to the filter; exclude a value"],
  ["Alt+↑, Alt+↓", "In the menu of columns: move a column"],
  ["Esc", "Close or deselect"],
] as const;

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
