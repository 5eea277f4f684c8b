/** The timeline of a thread: the lanes of models and tools, the totals, and a table of the tools. */

import { Group } from "@mantine/core";
import { useState } from "react";
import { duration } from "~/format/duration";
import { count, plural } from "~/format/number";
import type { LaneCall, Lanes, LaneTotals } from "~/generated/api-types";
import { FactList } from "~/ui/fact-list";
import { QuietButton } from "~/ui/quiet-button";
import { CallPanel } from "./call-panel";
import { callKey, type LaneGroup } from "./lane-model";
import type { ShowTurn } from "./scroll-position";
import css from "./timeline.module.css";
import { TimelineChart } from "./timeline-chart";

type Props = {
  lanes: Lanes;
  groups: readonly LaneGroup[];
  /** Whether `groups` are only some of the conversations. The totals and the tools are those of all conversations. */
  isPart: boolean;
  onTurn: ShowTurn;
};

/** The call that is shown. `failedOf` is the tool if the call was opened as one of its failed calls. */
type Opened = { key: string; failedOf?: string; opener: Element | null; opening: number };

/** Selecting a request shows its turn. Selecting a call shows its arguments and its result beside the tools. */
export function Timeline({ lanes, groups, isPart, onTurn }: Props) {
  const [opened, setOpened] = useState<Opened>();
  const call = lanes.calls.find((each) => callKey(each) === opened?.key);
  const open = (selected: LaneCall, more?: { failedOf: string }) =>
    setOpened({
      ...more,
      key: callKey(selected),
      opener: document.activeElement,
      opening: (opened?.opening ?? 0) + 1,
    });
  const tool = opened?.failedOf;
  const failedOf = (name: string) => lanes.calls.filter((each) => each.failed && each.name === name);
  /** The failed call beside the call that is shown. After the last comes the first. */
  const beside = (name: string, step: 1 | -1) => {
    const failed = failedOf(name);
    const at = tool === name ? failed.findIndex((each) => callKey(each) === opened?.key) + step : 0;
    return failed.at(at % failed.length);
  };
  const openFailed = (name: string) => {
    const next = beside(name, 1);
    if (next !== undefined) open(next, { failedOf: name });
  };
  const onStep = (step: 1 | -1) => {
    const next = tool === undefined ? undefined : beside(tool, step);
    if (opened !== undefined && next !== undefined) setOpened({ ...opened, key: callKey(next) });
  };
  const close = () => {
    setOpened(undefined);
    if (opened?.opener instanceof HTMLElement) opened.opener.focus();
  };
  return (
    <div className={css.timeline}>
      <TimelineChart groups={groups} selected={opened?.key} onCall={open} onTurn={onTurn} />
      <Group className={css.totals} gap="2px 18px" align="baseline">
        {isPart && <h2>All conversations</h2>}
        <FactList facts={factsOf(lanes.totals)} />
      </Group>
      {lanes.tools.length > 0 && (
        <div className={css.below}>
          <ToolTable lanes={lanes} onCall={open} onFailed={openFailed} />
          <div className={css.place}>
            {call !== undefined && (
              <CallPanel
                // A call that is opened takes the focus. From failed call to failed call, the focus stays.
                key={opened?.opening}
                call={call}
                steps={tool === undefined ? undefined : stepsOf(failedOf(tool), call, onStep)}
                onClose={close}
                onTurn={onTurn}
              />
            )}
          </div>
        </div>
      )}
      {(lanes.has_older || !lanes.complete) && (
        <p className="note">
          {lanes.has_older && `The timeline has the latest ${count(lanes.totals.requests)} requests. `}
          {!lanes.complete && "Some requests could not be read in time, so tool calls may be missing."}
        </p>
      )}
    </div>
  );
}

function stepsOf(failed: readonly LaneCall[], call: LaneCall, onStep: (step: 1 | -1) => void) {
  return { at: failed.indexOf(call) + 1, total: failed.length, onStep };
}

const ONCE = "Calls at the same time count once here, and each in the table.";

function factsOf(totals: LaneTotals) {
  const { calls, failed_calls, unanswered_calls } = totals;
  const details = [
    failed_calls > 0 && `${count(failed_calls)} failed`,
    unanswered_calls > 0 && `${count(unanswered_calls)} without a result`,
  ];
  const more = details.filter(Boolean).join(", ");
  return [
    {
      name: "elapsed",
      value: duration(totals.wall_ms),
      title: "From the start of the first request to the end of the last. Model and tools can run at the same time.",
    },
    {
      name: "model time",
      value: duration(totals.model_wall_ms),
      title: `Time in which at least one request ran, also while tools ran. Sum of all requests: ${duration(totals.model_ms)}`,
    },
    {
      name: "tool time",
      value: duration(totals.tool_wall_ms),
      title: `Time in which at least one call ran. ${ONCE} Sum of all calls: ${duration(totals.tool_ms)}`,
    },
    { name: "idle", value: duration(totals.idle_ms), title: "Time in which neither a request nor a call ran" },
    { name: "tool calls", value: `${count(calls)}${more && ` (${more})`}` },
  ];
}

/** Number of tools in the table until it is expanded. */
const FEW = 5;

type ToolTableProps = {
  lanes: Lanes;
  onCall: (call: LaneCall) => void;
  onFailed: (tool: string) => void;
};

/** The tools by their total time, with buttons that show the longest and the failed calls. */
function ToolTable({ lanes: { tools, calls }, onCall, onFailed }: ToolTableProps) {
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
            <th scope="col">Total time</th>
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
                  {failed === 0 ? (
                    "–"
                  ) : (
                    <QuietButton
                      label={`${count(failed)} failed: show the next failed call of ${name}`}
                      onClick={() => onFailed(name)}
                    >
                      <span data-tone="bad">
                        <span aria-hidden="true">✗ </span>
                        {count(failed)}
                      </span>
                    </QuietButton>
                  )}
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
