import { refusalWords } from "~/domain/vocabulary";
import { count } from "~/format/number";
import css from "./status-panel.module.css";

/** Requests that were not admitted, by the code their callers got. They have no record. */
export function RefusalList({ refused }: { refused: Readonly<Record<string, number>> }) {
  const codes = Object.entries(refused).sort(([, one], [, other]) => other - one);
  return (
    <section>
      <h3>Requests not admitted</h3>
      {codes.length === 0 ? (
        <p>None. Such a request would get an error of Relaybook's own and not be in the log.</p>
      ) : (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">code</th>
              <th scope="col" className={css.number}>
                requests
              </th>
              <th scope="col">what it means</th>
            </tr>
          </thead>
          <tbody>
            {codes.map(([code, many]) => (
              <tr key={code}>
                <th scope="row">
                  <code>{code}</code>
                </th>
                <td className={css.number}>{count(many)}</td>
                <td>{refusalWords(code)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
