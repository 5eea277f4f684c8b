/** The dialog with all keyboard shortcuts. */

import { Modal } from "@mantine/core";
import css from "./controls.module.css";

const KEYS = [
  ["j  k  ↓  ↑", "next and previous request"],
  ["Enter", "open it; j and k then turn pages"],
  ["n", "only its namespace; the row keeps its place"],
  ["t", "in an open request: its thread"],
  ["m", "more to do with a value: only, also, not, thread, pin, copy"],
  ["p", "pin its namespace as a label, or unpin it"],
  ["1 – 9, 0", "a label; all"],
  ["/", "search, or filter by typing"],
  ["Backspace", "take away the value chosen last"],
  ["Home", "the newest"],
  ["l", "pause and go on"],
  ["Alt-click, Shift-click", "also this value; not this value"],
  ["Esc", "close, or let go of the row"],
] as const;

/** What the query language can say, for the box that / goes to. */
const EXAMPLES = [
  ['refund "not sent" -late', "requests that say so, and do not say the last"],
  ["model:gpt-4o* -status:error", "values, beginnings of values, and none of them"],
  ["duration:>2s cost:>0.01", "within bounds"],
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
      <h3 className={css.heading}>What can be typed</h3>
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
