import { useState } from "react";
import type { Turn } from "./conversations";
import css from "./letters.module.css";
import { TurnLine } from "./turn-line";
import { TurnTexts } from "./turn-texts";
import { useNear } from "./use-near";

/** One request of a conversation: a line about it, then what is new in it. */
export function TurnView({ turn }: { turn: Turn }) {
  const { row } = turn;
  const [isOpen, setOpen] = useState(!turn.isFolded);
  const { isNear, mount } = useNear();
  return (
    <article
      ref={mount}
      className={css.turn}
      tabIndex={-1}
      data-request={row.id}
      data-folded={isOpen ? undefined : ""}
      aria-label={`Turn ${row.turn}${turn.again === undefined ? "" : `, ${turn.again}`}`}
    >
      <TurnLine turn={turn} isOpen={isOpen} onFold={turn.isFolded ? () => setOpen(!isOpen) : undefined} />
      {isOpen && <TurnTexts turn={turn} isNear={isNear} />}
    </article>
  );
}
