/** CodeMirror as a reader: nothing can be changed, everything can be searched. */

import { json } from "@codemirror/lang-json";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { PAGE } from "~/api/page-config";
import { jsonColours } from "./json-colours";
import { searchPanel } from "./search-panel";

type Options = { parent: HTMLElement; text: string; isJson: boolean; name: string };

/** Above it, reading the language would hold the page up. */
const MOST_COLOURED = 1_000_000;

export function codeEditor({ parent, text, isJson, name }: Options): EditorView {
  const extensions: Extension[] = [
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": name, "aria-readonly": "true", inputmode: "none", tabindex: "0" }),
    EditorView.lineWrapping,
    lineNumbers(),
    drawSelection(),
    highlightSelectionMatches(),
    search({ top: true, createPanel: searchPanel }),
    keymap.of(searchKeymap),
    LOOK,
  ];
  if (PAGE.nonce !== "") extensions.push(EditorView.cspNonce.of(PAGE.nonce));
  if (isJson && text.length <= MOST_COLOURED) extensions.push(json(), jsonColours);
  return new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
}

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", color: "var(--ink)", backgroundColor: "var(--sunken)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { color: "var(--dim)", backgroundColor: "var(--sunken)", borderRight: "1px solid var(--line)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "var(--accent-paper) !important",
  },
  ".json-name": { color: "var(--slot1-ink)" },
  ".json-text": { color: "var(--slot2-ink)" },
  ".json-other": { color: "var(--slot3-ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-searchMatch": { backgroundColor: "var(--slot4)", color: "var(--slot4-ink)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--ink)" },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--paper)", borderBottom: "1px solid var(--line)" },
  ".reader-search": { display: "flex", alignItems: "center", gap: "2px", padding: "4px 6px" },
  ".reader-search span": { padding: "0 6px", color: "var(--dim)" },
  ".reader-search input": {
    flex: "1",
    minWidth: "0",
    maxWidth: "320px",
    minHeight: "26px",
    padding: "0 8px",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    color: "var(--ink)",
    backgroundColor: "var(--paper)",
    font: "12px var(--font)",
  },
  ".reader-search button": {
    minWidth: "26px",
    minHeight: "26px",
    border: "0",
    borderRadius: "4px",
    color: "var(--dim)",
    backgroundColor: "transparent",
    font: "13px var(--font)",
    cursor: "pointer",
  },
  ".reader-search button:hover": { color: "var(--ink)", backgroundColor: "var(--sunken)" },
});
