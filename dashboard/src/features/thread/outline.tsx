/** The outline of a thread: its turns, each with its new input and its tool calls, to jump to. */

import { type KeyboardEvent, memo, useMemo, useSyncExternalStore } from "react";
import type { LaneCall, LaneRequest, Lanes } from "~/generated/api-types";
import { beginsConversation, inPageOrder } from "./lane-model";
import css from "./outline.module.css";
import type { ScrollPosition } from "./scroll-position";

type Props = { lanes: Lanes; position: ScrollPosition; onTurn: (id: string) => void };

/** One of the turns is in the tab order, and the arrow keys move from turn to turn. */
export const Outline = memo(function Outline({ lanes, position, onTurn }: Props) {
  const current = useSyncExternalStore(position.subscribe, position.current);
  const requests = useMemo(() => inPageOrder(lanes), [lanes]);
  const callsOf = useMemo(() => callsByRequest(lanes.calls), [lanes]);
  const inTabOrder = requests.some(({ id }) => id === current) ? current : requests[0]?.id;
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const item = (event.target as HTMLElement).closest("li");
    const next = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling }[event.key];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.querySelector("button")?.focus();
  };
  return (
    <nav className={css.outline} aria-label="Turns" onKeyDown={move}>
      <ol className="plain-list">
        {requests.map((request, at) => (
          <OutlineItem
            key={request.id}
            request={request}
            calls={callsOf.get(request.id)}
            isFirst={beginsConversation(request, requests[at - 1])}
            isCurrent={request.id === current}
            isInTabOrder={request.id === inTabOrder}
            onTurn={onTurn}
          />
        ))}
      </ol>
    </nav>
  );
});

function callsByRequest(calls: readonly LaneCall[]): Map<string, LaneCall[]> {
  const found = new Map<string, LaneCall[]>();
  for (const call of calls) {
    const others = found.get(call.request);
    if (others === undefined) found.set(call.request, [call]);
    else others.push(call);
  }
  return found;
}

type ItemProps = {
  request: LaneRequest;
  calls: readonly LaneCall[] | undefined;
  /** Whether another conversation begins, which a line shows. */
  isFirst: boolean;
  isCurrent: boolean;
  isInTabOrder: boolean;
  onTurn: (id: string) => void;
};

const OutlineItem = memo(function OutlineItem({ request, calls = NONE, ...rest }: ItemProps) {
  const { id, turn, preview, failed, result } = request;
  const { isFirst, isCurrent, isInTabOrder, onTurn } = rest;
  const failedCalls = calls.filter((call) => call.failed).length;
  return (
    <li ref={isCurrent ? scrollIntoOutline : undefined} className={isFirst ? css.first : undefined}>
      <button
        type="button"
        className={css.item}
        aria-current={isCurrent || undefined}
        tabIndex={isInTabOrder ? 0 : -1}
        onClick={() => onTurn(id)}
      >
        <span className={css.turn}>
          <span className="visually-hidden">Turn </span>
          {turn}
        </span>
        <span className={css.texts}>
          <bdi className="ellipsis">{preview ?? "–"}</bdi>
          {calls.length > 0 && <bdi className={css.calls}>→ {namesOf(calls)}</bdi>}
        </span>
        {(failed || failedCalls > 0) && (
          <span data-tone="bad" title={failed ? result.text : `${failedCalls} failed`}>
            ✗<span className="visually-hidden">{failed ? result.text : `${failedCalls} failed`}</span>
          </span>
        )}
      </button>
    </li>
  );
});

const NONE: readonly LaneCall[] = [];

/** Scroll only the outline, so that the current turn is visible in it. */
function scrollIntoOutline(item: HTMLElement | null): void {
  const outline = item?.closest("nav");
  if (item === null || !outline) return;
  const [box, around] = [item.getBoundingClientRect(), outline.getBoundingClientRect()];
  if (box.top < around.top) outline.scrollTop -= around.top - box.top;
  else if (box.bottom > around.bottom) outline.scrollTop += box.bottom - around.bottom;
}

/** The names of the called tools, each with its number of calls if there are several: `read_file ×2, grep`. */
function namesOf(calls: readonly LaneCall[]): string {
  const numbers = new Map<string, number>();
  for (const { name } of calls) numbers.set(name, (numbers.get(name) ?? 0) + 1);
  return [...numbers].map(([name, number]) => (number > 1 ? `${name} ×${number}` : name)).join(", ");
}
