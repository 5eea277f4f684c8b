/** The text of a response at one moment of its stream. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { progressQuery } from "~/api/requests";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import css from "./request.module.css";
import { stepAt, type TextStep, textsOf } from "./response-progress";

const NO_TEXTS: readonly TextStep[] = [];
/** Only the end of a longer text is shown, so that moving along the stream stays smooth. */
const MAX_SHOWN = 4_000;

/** The texts of a request, once they are wanted. */
export function useTexts({ id, chunks }: RequestDetail, isWanted: boolean) {
  const { data, isPending, error } = useQuery({ ...progressQuery(id, chunks), enabled: isWanted });
  const texts = useMemo(() => (data === undefined ? NO_TEXTS : textsOf(data)), [data]);
  return { texts, isLoading: isWanted && isPending, error };
}

type Props = {
  texts: readonly TextStep[];
  /** Number of chunks that had arrived. */
  chunks: number;
};

/** What had arrived. The text of the last chunk is marked. */
export function ArrivedText({ texts, chunks }: Props) {
  const step = stepAt(texts, chunks);
  if (step === undefined) return <p className="note">No text had arrived.</p>;
  const start = Math.max(0, step.text.length - MAX_SHOWN);
  const fresh = step.chunk === chunks ? Math.max(step.before, start) : step.text.length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section ref={scrollToEnd} className={css.arrived} aria-label="Text that had arrived" tabIndex={0} dir="auto">
      {start > 0 && <span className="muted">{count(start)} characters before this … </span>}
      {step.text.slice(start, fresh)}
      <span className={css.fresh}>{step.text.slice(fresh)}</span>
    </section>
  );
}

function scrollToEnd(element: HTMLElement | null): (() => void) | undefined {
  if (element === null) return undefined;
  const follow = () => {
    element.scrollTop = element.scrollHeight;
  };
  follow();
  const observer = new MutationObserver(follow);
  observer.observe(element, { characterData: true, childList: true, subtree: true });
  return () => observer.disconnect();
}
