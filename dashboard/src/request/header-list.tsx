import { Fold } from "~/ui/disclosure";
import css from "./small.module.css";

const KEY = /^(?:\S+ +)?key:([0-9a-f]{4})[0-9a-f]{8}$/;

type HeaderPairs = readonly (readonly [string, string])[];
type HeaderListProps = { name: "request" | "response"; headers: HeaderPairs | null };

/** The headers of one side, as they came. */
export function HeaderList({ name, headers }: HeaderListProps) {
  if (headers === null || headers.length === 0) return <span className={css.dim}>{name} –</span>;
  return (
    <Fold summary={`${name} ${headers.length}${keyWords(headers)}`} isInline>
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

/** ` (authorization: key 3f9a…)`: the secret was replaced by its fingerprint before anything was stored. */
function keyWords(headers: HeaderPairs): string {
  const [name, value] =
    headers.find(([header, value]) => /^(authorization|(x-)?api-key)$/i.test(header) && KEY.test(value)) ?? [];
  return name === undefined ? "" : ` (${name.toLowerCase()}: key ${KEY.exec(value ?? "")?.[1]}…)`;
}
