/** The outline of a thread: its turns, each with its new input and its tool calls, to jump to. */

import { type KeyboardEvent, memo, useMemo, useSyncExternalStore } from "react";
import type { LaneCall, Lanes } from "~/generated/api-types";
import { beginsConversation, groupRepeats, type Repeats } from "./lane-model";
import css from "./outline.module.css";
import type { ScrollPosition } from "./scroll-position";

type Props = { lanes: Lanes; position: ScrollPosition; onTurn: (id: string) => void };

/** One of the turns is in the tab order, and the arrow keys move from turn to turn. */
export const Outline = memo(function Outline({ lanes, position, onTurn }: Props) {
  const current = useSyncExternalStore(position.subscribe, position.current);
  const turns = useMemo(() => groupRepeats(lanes), [lanes]);
  const callsOf = useMemo(() => callsByRequest(lanes.calls), [lanes]);
  const shown = turns.find((turn) => turn.some(({ id }) => id === current));
  const inTabOrder = shown ?? turns[0];
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
        {turns.map((turn, at) => (
          <OutlineItem
            key={turn[0].id}
            requests={turn}
            callsOf={callsOf}
            isFirst={beginsConversation(turn[0], turns[at - 1]?.[0])}
            isCurrent={turn === shown}
            isInTabOrder={turn === inTabOrder}
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
  /** The requests of the turn. A click goes to the first of them, which shows the messages. */
  requests: Repeats;
  callsOf: ReadonlyMap<string, readonly LaneCall[]>;
  /** Whether another conversation begins, which a line shows. */
  isFirst: boolean;
  isCurrent: boolean;
  isInTabOrder: boolean;
  onTurn: (id: string) => void;
};

const OutlineItem = memo(function OutlineItem({ requests, callsOf, ...rest }: ItemProps) {
  const { isFirst, isCurrent, isInTabOrder, onTurn } = rest;
  const [{ id, turn, preview }] = requests;
  const calls = requests.flatMap((request) => callsOf.get(request.id) ?? []);
  const failure = failureOf(requests, calls);
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
        {requests.length > 1 && (
          <span className="muted" title={`${requests.length} requests`}>
            <span aria-hidden="true">×{requests.length}</span>
            <span className="visually-hidden">{requests.length} requests</span>
          </span>
        )}
        {failure !== undefined && (
          <span data-tone="bad" title={failure}>
            ✗<span className="visually-hidden">{failure}</span>
          </span>
        )}
      </button>
    </li>
  );
});

/** What failed in a turn: its request, some of its requests, or otherwise some of its calls. */
function failureOf(requests: Repeats, calls: readonly LaneCall[]): string | undefined {
  const failed = requests.filter((request) => request.failed).length;
  if (failed > 0) return requests.length === 1 ? requests[0].result.text : `${failed} failed`;
  const failedCalls = calls.filter((call) => call.failed).length;
  return failedCalls > 0 ? `${failedCalls} failed` : undefined;
}

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
