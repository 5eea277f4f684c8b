/** Colours of JSON in CodeMirror: classes on what is in sight, for the theme to paint. */

import { syntaxTree } from "@codemirror/language";
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

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
