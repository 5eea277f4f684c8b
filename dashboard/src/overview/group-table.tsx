import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, shortCount, tokens } from "~/format/number";
import { ColourMark } from "./colour-mark";
import { colourOf } from "./curves";
import { GroupValue } from "./group-value";
import { fieldName, type Group } from "./groups";
import css from "./table.module.css";

type Props = { groups: readonly Group[]; by: string };

/** The groups with their figures; their colours are those of the charts. */
export function GroupTable({ groups, by }: Props) {
  return (
    <table className={css.table}>
      <caption className="unseen">Requests by {fieldName(by)}</caption>
      <thead>
        <tr>
          <th scope="col" className={css.name}>
            <bdi>{fieldName(by)}</bdi>
          </th>
          <th scope="col" className={css.requests}>
            Requests
          </th>
          <th scope="col" className={css.failures}>
            Failed
          </th>
          <th scope="col" className={css.tokens}>
            <span title="input → output">Tokens</span>
          </th>
          <th scope="col" className={css.cost}>
            Cost
          </th>
          <th scope="col" className={css.time} title="Duration">
            p50
          </th>
          <th scope="col" className={css.time} title="Duration">
            p95
          </th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <GroupRow key={`${group.kind}${group.value}`} group={group} by={by} />
        ))}
      </tbody>
    </table>
  );
}

function GroupRow({ group, by }: { group: Group; by: string }) {
  const { requests, failed, input_tokens, output_tokens, cost_usd, duration_ms } = group.total;
  return (
    <tr className={css.row}>
      <th scope="row" className={css.name}>
        <span className={css.marked}>
          <ColourMark colour={colourOf(group)} />
          <GroupValue group={group} by={by} />
        </span>
      </th>
      <td>{count(requests)}</td>
      <td className={failed > 0 ? css.failed : css.dim}>
        {failed > 0 && <span aria-hidden="true">✗ </span>}
        {count(failed)}
      </td>
      <td className={css.tokens} title={tokens(input_tokens, output_tokens, false)}>
        {shortCount(input_tokens)} → {shortCount(output_tokens)}
      </td>
      <td>{money(cost_usd)}</td>
      <td className={css.time}>{duration(duration_ms.p50)}</td>
      <td className={css.time}>{duration(duration_ms.p95)}</td>
    </tr>
  );
}
