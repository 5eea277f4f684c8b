import { Fold } from "~/ui/fold";
import css from "./small.module.css";

type Props = { name: "request" | "response"; headers: readonly (readonly [string, string])[] | null };

/** The headers of one side, as they came. */
export function HeaderList({ name, headers }: Props) {
  if (headers === null || headers.length === 0) return <span className={css.dim}>{name} –</span>;
  return (
    <Fold summary={`${name} ${headers.length}`} isInline>
      <table className={css.headers}>
        <caption className="unseen">Headers of the {name}</caption>
        <tbody>
          {headers.map(([header, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice
            <tr key={index}>
              <th scope="row">{header}</th>
              <td>
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Fold>
  );
}
