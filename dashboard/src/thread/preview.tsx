import { LongText } from "~/ui/long-text";
import type { Turn } from "./conversations";
import { Letter } from "./letter";

/** How long the API makes the beginnings of texts. */
const CUT = 200;

/** The beginnings of what was asked and answered, as the log has them. */
export function Preview({ turn }: { turn: Turn }) {
  const { input_preview, output_preview, kind } = turn.row;
  return (
    <>
      {input_preview !== null && !turn.isSaid && (
        <Letter by="user" kind="asked">
          <LongText text={told(input_preview)} />
        </Letter>
      )}
      {output_preview !== null && (
        <Letter by={kind === "embedding" ? "answer" : "assistant"} kind="answered">
          <LongText text={told(output_preview)} />
        </Letter>
      )}
    </>
  );
}

function told(preview: string): string {
  return [...preview].length < CUT ? preview : `${preview}…`;
}
