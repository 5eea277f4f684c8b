/** The dialog with all keyboard shortcuts. */

import { Modal } from "@mantine/core";
import css from "./controls.module.css";

const KEYS = [
  ["j  k  ↓  ↑", "Next and previous request"],
  ["Enter", "Open the request"],
  ["n", "Filter by its namespace"],
  ["t", "Conversation view of the open request"],
  ["m", "Menu of a value: only, also, not, conversation view, pin, copy"],
  ["p", "Pin or unpin its namespace"],
  ["1 – 9, 0", "A pinned namespace, all namespaces"],
  ["/", "Search"],
  ["Backspace", "Remove last filter"],
  ["Home", "Newest request"],
  ["l", "Pause or resume live updates"],
  ["Alt-click, Shift-click", "Add the value, exclude the value"],
  ["Esc", "Close or deselect"],
] as const;

/** Examples of the query language. */
const EXAMPLES = [
  ['refund "not sent" -late', "Words and phrases, and without a word"],
  ["model:gpt-4o* -status:error", "Prefix (*) and negated (-) matches"],
  ["duration:>2s cost:>0.01", "Bounds"],
] as const;

export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Keys"
      lockScroll={false}
      // Its <header> would count as another banner of the page.
      attributes={{ header: { role: "presentation" } }}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <dl className={css.keys}>
        {KEYS.map(([keys, does]) => (
          <div key={keys} style={{ display: "contents" }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <h3 className={css.heading}>Search examples</h3>
      <dl className={css.examples}>
        {EXAMPLES.map(([written, finds]) => (
          <div key={written}>
            <dt>
              <code>{written}</code>
            </dt>
            <dd>{finds}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
