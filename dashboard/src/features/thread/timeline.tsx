/** The timeline of a thread: its totals, the lanes of models and tools, and a table of the tools. */

import { NativeSelect } from "@mantine/core";
import { useMemo, useState } from "react";
import { duration } from "~/format/duration";
import { count, plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { LaneCall, Lanes, LaneTotals } from "~/generated/api-types";
import { FactList } from "~/ui/fact-list";
import { QuietButton } from "~/ui/quiet-button";
import { CallPanel } from "./call-panel";
import { callKey, groupLanes, type LaneGroup } from "./lane-model";
import css from "./timeline.module.css";
import { TimelineChart } from "./timeline-chart";

type Props = {
  lanes: Lanes;
  /** Whether all conversations are shown at first. Otherwise only the latest is shown. */
  isSession: boolean;
  onTurn: (id: string) => void;
};

/** Selecting a request shows its turn. Selecting a call shows its arguments and its result. */
export function Timeline({ lanes, isSession, onTurn }: Props) {
  const groups = useMemo(() => groupLanes(lanes), [lanes]);
  const [conversation, setConversation] = useState(isSession ? ALL : undefined);
  const [callId, setCall] = useState<string>();
  const latest = groups.findLast((group) => group.conversation !== null) ?? groups.at(-1);
  const shown = groups.filter(
    (group) => conversation === ALL || groupKey(group) === (conversation ?? groupKey(latest)),
  );
  const call = lanes.calls.find((each) => callKey(each) === callId);
  const select = (selected: LaneCall) => setCall(callKey(selected));
  const closePanel = () => {
    setCall(undefined);
    document.querySelector<HTMLElement>(`[data-bar="${CSS.escape(callId ?? "")}"]`)?.focus();
  };
  return (
    <div className={css.timeline}>
      <div className={css.facts}>
        <FactList facts={factsOf(lanes.totals)} />
        {groups.length > 1 && (
          <NativeSelect
            size="xs"
            aria-label="Conversations in the timeline"
            value={conversation ?? groupKey(latest)}
            onChange={(event) => setConversation(event.currentTarget.value)}
            data={[
              { value: ALL, label: "all conversations" },
              ...groups.map((group) => ({ value: groupKey(group), label: nameOf(group, lanes) })),
            ]}
          />
        )}
      </div>
      <TimelineChart
        groups={shown.map((group) => ({ ...group, name: nameOf(group, lanes) }))}
        selected={callId}
        onCall={select}
        onTurn={onTurn}
      />
      {call !== undefined && <CallPanel key={callId} call={call} onClose={closePanel} onTurn={onTurn} />}
      {lanes.tools.length > 0 && <ToolTable lanes={lanes} onCall={select} />}
      {(lanes.has_older || !lanes.complete) && (
        <p className="note">
          {lanes.has_older && `The timeline has the latest ${count(lanes.totals.requests)} requests. `}
          {!lanes.complete && "Some requests could not be read in time, so tool calls may be missing."}
        </p>
      )}
    </div>
  );
}

const ALL = "all";

function groupKey(group: LaneGroup | undefined): string {
  return group?.conversation ?? "other";
}

/** A conversation has no name, so it is named by its agent or its start. */
function nameOf({ conversation, first, lanes: [model] }: LaneGroup, { started_at }: Lanes): string {
  if (conversation === null) return "other requests";
  const at = clockTime(new Date(new Date(started_at ?? 0).getTime() + first.start_ms).toISOString());
  return model?.lane.agent ? `agent ${model.lane.agent}, from ${at}` : `conversation from ${at}`;
}

function factsOf(totals: LaneTotals) {
  const { calls, failed_calls, unanswered_calls } = totals;
  const details = [
    failed_calls > 0 && `${count(failed_calls)} failed`,
    unanswered_calls > 0 && `${count(unanswered_calls)} without a result`,
  ];
  const more = details.filter(Boolean).join(", ");
  return [
    { name: "total", value: duration(totals.wall_ms) },
    {
      name: "model",
      value: duration(totals.model_wall_ms),
      title: `Time in which at least one request ran. Sum of all requests: ${duration(totals.model_ms)}`,
    },
    {
      name: "tools",
      value: duration(totals.tool_wall_ms),
      title: `Time in which at least one call ran. Sum of all calls: ${duration(totals.tool_ms)}`,
    },
    { name: "neither", value: duration(totals.idle_ms), title: "Time in which neither a request nor a call ran" },
    { name: "tool calls", value: `${count(calls)}${more && ` (${more})`}` },
  ];
}

/** Number of tools in the table until it is expanded. */
const FEW = 5;

/** The tools by their total time, with buttons that show the longest and the failed calls. */
function ToolTable({ lanes: { tools, calls }, onCall }: { lanes: Lanes; onCall: (call: LaneCall) => void }) {
  const [isWhole, setWhole] = useState(false);
  const callsOf = (name: string) => calls.filter((call) => call.name === name);
  const longestOf = (name: string) => callsOf(name).reduce((best, call) => (timeOf(call) > timeOf(best) ? call : best));
  return (
    <div className={css.tools}>
      <table>
        <caption className="visually-hidden">Tools by total time</caption>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Calls</th>
            <th scope="col">Total</th>
            <th scope="col">Longest</th>
            <th scope="col">Failed</th>
            <th scope="col">No result</th>
          </tr>
        </thead>
        <tbody>
          {(isWhole ? tools : tools.slice(0, FEW)).map(
            ({ name, calls: number, failed, unanswered, total_ms, longest_ms }) => (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name}</bdi>
                </th>
                <td>{count(number)}</td>
                <td>{duration(total_ms)}</td>
                <td>
                  {longest_ms === null ? (
                    "–"
                  ) : (
                    <QuietButton
                      label={`${duration(longest_ms)}: show the longest call of ${name}`}
                      onClick={() => onCall(longestOf(name))}
                    >
                      {duration(longest_ms)}
                    </QuietButton>
                  )}
                </td>
                <td>
                  <NextCall calls={callsOf(name).filter((call) => call.failed)} total={failed} onCall={onCall} />
                </td>
                <td>{unanswered === 0 ? "–" : count(unanswered)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
      {tools.length > FEW && (
        <QuietButton onClick={() => setWhole(!isWhole)}>
          {isWhole ? "fewer tools" : `all ${plural(tools.length, "tool")}`}
        </QuietButton>
      )}
    </div>
  );
}

function timeOf({ start_ms, end_ms }: LaneCall): number {
  return end_ms === null ? -1 : end_ms - start_ms;
}

/** The number of failed calls. Each click shows the next of them. */
function NextCall({ calls, total, onCall }: { calls: LaneCall[]; total: number; onCall: (call: LaneCall) => void }) {
  const [next, setNext] = useState(0);
  const call = calls[next % Math.max(1, calls.length)];
  if (call === undefined) return "–";
  return (
    <QuietButton
      data-tone="bad"
      label={`${count(total)} failed: show the next failed call of ${call.name}`}
      onClick={() => {
        onCall(call);
        setNext(next + 1);
      }}
    >
      <span aria-hidden="true">✗ </span>
      {count(total)}
    </QuietButton>
  );
}
