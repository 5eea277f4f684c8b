/** The line in which a body is searched: finds in megabytes within a keystroke, which CodeMirror's own panel does not. */

import { closeSearchPanel, findNext, findPrevious, SearchQuery, setSearchQuery } from "@codemirror/search";
import type { EditorView, Panel } from "@codemirror/view";

/** For `search({ createPanel })`. */
export function searchPanel(view: EditorView): Panel {
  const dom = document.createElement("div");
  dom.className = "reader-search";
  const field = document.createElement("input");
  field.type = "text";
  field.placeholder = "search";
  field.setAttribute("aria-label", "Search in the body");
  // By this mark the editor knows where the focus goes when it is asked for once more.
  field.setAttribute("main-field", "true");
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  field.addEventListener("input", () => {
    told.textContent = field.value === "" || ask(view, field.value) ? "" : "nowhere";
  });
  dom.append(
    field,
    told,
    button("‹", "Previous place", () => findPrevious(view)),
    button("›", "Next place", () => findNext(view)),
    button("✕", "Close the search", () => closeSearchPanel(view)),
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

/** Asked as a pattern, since patterns are searched line by line and not letter by letter. Whether it is anywhere. */
function ask(view: EditorView, text: string): boolean {
  const pattern = text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const query = new SearchQuery({ search: pattern, regexp: true });
  view.dispatch({ effects: setSearchQuery.of(query) });
  return !query.getCursor(view.state).next().done;
}

function button(sign: string, name: string, act: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = sign;
  made.setAttribute("aria-label", name);
  made.addEventListener("click", act);
  return made;
}
