/** The lanes of a thread as bars on a time axis, which the mouse and the arrow keys select. */

import { type KeyboardEvent, memo, useMemo, useState } from "react";
import { duration } from "~/format/duration";
import { plural } from "~/format/number";
import type { Lane, LaneCall } from "~/generated/api-types";
import { QuietButton } from "~/ui/quiet-button";
import { type Bar, type BarLane, barBeside, type LaneGroup, type TimeAxis, timeAxis } from "./lane-model";
import type { ShowTurn } from "./scroll-position";
import css from "./timeline.module.css";

type Props = {
  groups: readonly LaneGroup[];
  /** The key of the call that is open. */
  selected: string | undefined;
  onCall: (call: LaneCall) => void;
  onTurn: ShowTurn;
};

const ROW_PX = 14;
const GAP_PX = 5;
const MAX_ZOOM = 64;

/** One of the bars is in the tab order, and the arrow keys move from bar to bar. */
export function TimelineChart({ groups, selected, onCall, onTurn }: Props) {
  const [zoom, setZoom] = useState(1);
  const [focused, setFocused] = useState<string>();
  const lanes = useMemo(() => groups.flatMap((group) => group.lanes), [groups]);
  const byKey = useMemo(() => new Map(lanes.flatMap(({ bars }) => bars.map((bar) => [bar.key, bar]))), [lanes]);
  const axis = useMemo(() => timeAxis([...byKey.values()]), [byKey]);
  const current = focused !== undefined && byKey.has(focused) ? focused : lanes[0]?.bars[0]?.key;

  const open = (key: string | undefined) => {
    const bar = byKey.get(key ?? "");
    if (bar?.of.call) onCall(bar.of.call);
    else if (bar?.of.request) onTurn(bar.of.request.id);
  };
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const key = keyOf(event.target);
    if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const bar = barBeside(lanes, key, event.key);
    if (bar === undefined) return;
    event.preventDefault();
    setFocused(bar.key);
    event.currentTarget.querySelector<HTMLElement>(`[data-bar="${CSS.escape(bar.key)}"]`)?.focus();
  };
  return (
    <div className={css.chart}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form */}
      <div
        className={css.lanes}
        role="group"
        aria-label="Timeline: arrow keys move between requests and calls"
        onClick={(event) => open(keyOf(event.target))}
        onKeyDown={move}
        onFocus={(event) => setFocused(keyOf(event.target) ?? focused)}
      >
        <div style={{ minWidth: `${zoom * 100}%` }}>
          {groups.map((group) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
            <div key={group.key} role="group" aria-label={group.name}>
              {groups.length > 1 && <p className={css.group}>{group.name}</p>}
              {group.lanes.map((lane) => (
                <LaneRow
                  key={lane.lane.tool ?? ""}
                  lane={lane}
                  axis={axis}
                  focused={lane.bars.some(({ key }) => key === current) ? current : undefined}
                  selected={lane.bars.some(({ key }) => key === selected) ? selected : undefined}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      <div className={css.zoom}>
        <QuietButton label="Zoom out" disabled={zoom === 1} onClick={() => setZoom(Math.max(1, zoom / 2))}>
          −
        </QuietButton>
        <QuietButton label="Zoom in" disabled={zoom === MAX_ZOOM} onClick={() => setZoom(Math.min(MAX_ZOOM, zoom * 2))}>
          +
        </QuietButton>
      </div>
    </div>
  );
}

function keyOf(target: EventTarget): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>("[data-bar]")?.dataset.bar : undefined;
}

type LaneRowProps = { lane: BarLane; axis: TimeAxis; focused: string | undefined; selected: string | undefined };

const LaneRow = memo(function LaneRow({ lane: { lane, bars, rows }, axis, focused, selected }: LaneRowProps) {
  return (
    <div className={css.lane}>
      <div className={css.name} title={laneTitle(lane)}>
        <bdi className="ellipsis">{lane.tool ?? "model"}</bdi>
        <span className="muted">
          {lane.count}
          {lane.failed > 0 && <span data-tone="bad"> ✗{lane.failed}</span>}
        </span>
      </div>
      <div className={css.track} style={{ height: rows * ROW_PX + 2 * GAP_PX }}>
        {axis.pauses.map(({ ms, at, size }) => (
          <span
            key={at}
            className={css.pause}
            style={{ insetInlineStart: `${at * 100}%`, width: `${size * 100}%` }}
            title={`${duration(ms)} without a request or a call`}
          />
        ))}
        {bars.map((bar) => (
          <BarButton
            key={bar.key}
            bar={bar}
            axis={axis}
            isFocused={bar.key === focused}
            isOpen={bar.key === selected}
          />
        ))}
      </div>
    </div>
  );
});

function laneTitle({ tool, count, failed, total_ms }: Lane): string {
  const what = tool === null ? plural(count, "request") : `${tool}: ${plural(count, "call")}`;
  return `${what}, ${duration(total_ms)}${failed > 0 ? `, ${failed} failed` : ""}`;
}

type BarButtonProps = { bar: Bar; axis: TimeAxis; isFocused: boolean; isOpen: boolean };

const BarButton = memo(function BarButton({ bar, axis, isFocused, isOpen }: BarButtonProps) {
  const start = axis.placeOf(bar.start);
  const label = barLabel(bar);
  const { request, call } = bar.of;
  return (
    <button
      type="button"
      className={css.bar}
      data-bar={bar.key}
      data-kind={request ? "request" : "call"}
      data-state={(request ?? call)?.failed ? "failed" : call?.end_ms === null ? "unanswered" : undefined}
      aria-label={label}
      aria-expanded={call ? isOpen : undefined}
      title={label}
      tabIndex={isFocused ? 0 : -1}
      style={{
        insetInlineStart: `${start * 100}%`,
        width: `${(axis.placeOf(bar.end) - start) * 100}%`,
        top: GAP_PX + bar.row * ROW_PX,
      }}
    />
  );
});

/** The accessible name of a bar, such as `read_file, 0.31 s, turn 3, failed`. */
function barLabel({ start, end, of: { request, call } }: Bar): string {
  if (request) {
    const { result, turn, model } = request;
    return [`Turn ${turn}`, model, duration(end - start), result.text].filter(Boolean).join(", ");
  }
  const took = call?.end_ms === null ? "no result" : duration(end - start);
  return [call?.name, took, `turn ${call?.turn}`, call?.failed && "failed"].filter(Boolean).join(", ");
}
