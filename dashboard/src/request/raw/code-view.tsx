import { useCallback } from "react";
import { codeEditor } from "./code-editor";
import css from "./raw.module.css";

type Props = { text: string; isJson: boolean; name: string };

/** A text of any size, read-only, of which only what is in sight is in the page. */
export function CodeView({ text, isJson, name }: Props) {
  const mount = useCallback(
    (parent: HTMLDivElement | null) => {
      if (parent === null) return undefined;
      const editor = codeEditor({ parent, text, isJson, name });
      return () => editor.destroy();
    },
    [text, isJson, name],
  );
  return <div ref={mount} className={css.editor} />;
}
