/** The read-only code editor for bodies (CodeMirror). Loaded on demand. */

import { json } from "@codemirror/lang-json";
import { syntaxTree } from "@codemirror/language";
import {
  closeSearchPanel,
  findNext,
  findPrevious,
  highlightSelectionMatches,
  SearchQuery,
  search,
  searchKeymap,
  setSearchQuery,
} from "@codemirror/search";
import { EditorState, type Extension, RangeSetBuilder } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  type Panel,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { useCallback } from "react";
import { PAGE } from "~/api/page-config";

type Props = { text: string; isJson: boolean; name: string };

/** A read-only text of any size. Only the visible part is in the document. */
export function CodeView({ text, isJson, name }: Props) {
  const mount = useCallback(
    (parent: HTMLDivElement | null) => {
      if (parent === null) return undefined;
      const editor = codeEditor({ parent, text, isJson, name });
      return () => editor.destroy();
    },
    [text, isJson, name],
  );
  return <div ref={mount} />;
}

/** Options of the read-only editor, which has a search. */
type Options = { parent: HTMLElement; text: string; isJson: boolean; name: string };

/** Longer texts are not parsed, because this would block the page. */
const MAX_COLOURED = 1_000_000;

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
  if (isJson && text.length <= MAX_COLOURED) extensions.push(json(), jsonColours);
  return new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
}

const LOOK = EditorView.theme({
  "&": {
    maxHeight: "min(60vh, 560px)",
    fontSize: "12px",
    color: "var(--color-text)",
    backgroundColor: "var(--color-bg-subtle)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": {
    color: "var(--color-text-muted)",
    backgroundColor: "var(--color-bg-subtle)",
    borderRight: "1px solid var(--color-border)",
  },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "var(--accent-paper) !important",
  },
  ".json-name": { color: "var(--label-1-text)" },
  ".json-text": { color: "var(--label-2-text)" },
  ".json-other": { color: "var(--label-3-text)" },
  ".cm-cursor": { borderLeftColor: "var(--color-text)" },
  ".cm-searchMatch": { backgroundColor: "var(--label-4-bg)", color: "var(--label-4-text)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--color-text)" },
  ".cm-panels": {
    color: "var(--color-text)",
    backgroundColor: "var(--color-bg)",
    borderBottom: "1px solid var(--color-border)",
  },
  ".reader-search": { display: "flex", alignItems: "center", gap: "2px", padding: "4px 6px" },
  ".reader-search span": { padding: "0 6px", color: "var(--color-text-muted)" },
  ".reader-search input": {
    flex: "1",
    minWidth: "0",
    maxWidth: "320px",
    minHeight: "26px",
    padding: "0 8px",
    border: "1px solid var(--color-border-strong)",
    borderRadius: "4px",
    color: "var(--color-text)",
    backgroundColor: "var(--color-bg)",
    font: "12px var(--font)",
  },
  ".reader-search button": {
    minWidth: "26px",
    minHeight: "26px",
    border: "0",
    borderRadius: "4px",
    color: "var(--color-text-muted)",
    backgroundColor: "transparent",
    font: "13px var(--font)",
    cursor: "pointer",
  },
  ".reader-search button:hover": { color: "var(--color-text)", backgroundColor: "var(--color-bg-subtle)" },
});

/** JSON is highlighted by classes on its visible part. The theme styles these classes. */
const TEXT = Decoration.mark({ class: "json-text" });
const OTHER = Decoration.mark({ class: "json-other" });
const MARKS: Record<string, Decoration> = {
  PropertyName: Decoration.mark({ class: "json-name" }),
  String: TEXT,
  Number: OTHER,
  True: OTHER,
  False: OTHER,
  Null: OTHER,
};

class Colours {
  decorations: DecorationSet;

  constructor(view: EditorView) {
    this.decorations = marksOf(view);
  }

  update(update: ViewUpdate): void {
    const isReadOn = syntaxTree(update.startState) !== syntaxTree(update.state);
    if (update.docChanged || update.viewportChanged || isReadOn) this.decorations = marksOf(update.view);
  }
}

export const jsonColours = ViewPlugin.fromClass(Colours, { decorations: (colours) => colours.decorations });

function marksOf(view: EditorView): DecorationSet {
  const marks = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: (node) => {
        const mark = MARKS[node.name];
        if (mark !== undefined) marks.add(Math.max(from, node.from), Math.min(to, node.to), mark);
      },
    });
  }
  return marks.finish();
}

/** The search panel of the editor, for `search({ createPanel })`. */
export function searchPanel(view: EditorView): Panel {
  const dom = document.createElement("div");
  dom.className = "reader-search";
  const field = document.createElement("input");
  field.type = "text";
  field.placeholder = "Search";
  field.setAttribute("aria-label", "Search in the body");
  // The editor focuses this field when the search is opened again.
  field.setAttribute("main-field", "true");
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  field.addEventListener("input", () => {
    status.textContent = field.value === "" || setQuery(view, field.value) ? "" : "No matches";
  });
  dom.append(
    field,
    status,
    button("‹", "Previous match", () => findPrevious(view)),
    button("›", "Next match", () => findNext(view)),
    button("✕", "Close search", () => closeSearchPanel(view)),
  );
  dom.addEventListener("keydown", (event) => {
    if (event.key === "Enter") (event.shiftKey ? findPrevious : findNext)(view);
    else if (event.key === "Escape") closeSearchPanel(view);
    else return;
    event.preventDefault();
    if (event.key === "Escape") view.focus();
  });
  return { dom, top: true, mount: () => field.select() };
}

/**
 * Search for a text. The text is converted to a pattern, because this is faster than a search for plain text. Returns
 * whether there is a match.
 */
function setQuery(view: EditorView, text: string): boolean {
  const pattern = text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const query = new SearchQuery({ search: pattern, regexp: true });
  view.dispatch({ effects: setSearchQuery.of(query) });
  return !query.getCursor(view.state).next().done;
}

function button(sign: string, name: string, act: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = sign;
  element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}
