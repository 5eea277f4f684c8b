import { useCallback } from "react";
import type { Proposal } from "~/domain/query-proposals";
import { count } from "~/format/number";
import css from "./query-list.module.css";

type QueryListProps = {
  id: string;
  offers: readonly Proposal[];
  /** The one that the keyboard has reached. */
  active: Proposal | undefined;
  onTake: (offer: Proposal) => void;
};

/** What could be written next; the box has the focus all the time. */
export function QueryList({ id, offers, active, onTake }: QueryListProps) {
  return (
    <div className={css.popup}>
      <div id={id} role="listbox" aria-label="What can be written here" className={css.list}>
        {offers.map((offer) => (
          <Option
            key={offer.written}
            id={optionId(id, offer)}
            offer={offer}
            isActive={offer.written === active?.written}
            onTake={onTake}
          />
        ))}
      </div>
      <p className={css.hint}>
        <kbd>↓</kbd> choose <kbd>Tab</kbd> take <kbd>Enter</kbd> filter the log
      </p>
    </div>
  );
}

export function optionId(list: string, offer: Proposal): string {
  return `${list}-${encodeURIComponent(offer.written)}`;
}

type OptionProps = { id: string; offer: Proposal; isActive: boolean; onTake: (offer: Proposal) => void };

function Option({ id, offer, isActive, onTake }: OptionProps) {
  const { shown, words, requests } = offer;
  const intoSight = useCallback((element: HTMLElement | null) => element?.scrollIntoView?.({ block: "nearest" }), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the box's own keys reach it
    <div
      ref={isActive ? intoSight : null}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={css.option}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onTake(offer)}
    >
      <bdi className={css.shown}>{shown}</bdi> {words !== undefined && <span className={css.words}>{words}</span>}{" "}
      {requests !== undefined && (
        <span className={css.count}>
          {count(requests)}
          <span className="unseen"> requests</span>
        </span>
      )}
    </div>
  );
}
