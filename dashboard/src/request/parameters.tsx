import { pretty } from "~/domain/json";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Fold } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import { LongText } from "~/ui/long-text";
import css from "./small.module.css";
import { wellKnown } from "./well-known";

/** What was asked for besides the messages: the well-known first, all on demand. */
export function Parameters({ request }: { request: RequestDetail }) {
  const { parameters, kind } = request;
  if (parameters === null) return <p className={css.words}>Not known: the request's body is not stored or not read.</p>;
  const all = Object.keys(parameters).length;
  if (all === 0) return <p className={css.words}>none</p>;
  const facts: Fact[] = wellKnown(kind, parameters).map(({ name, value, whole }) => ({ name, value, title: whole }));
  const text = pretty(parameters);
  return (
    <>
      <FactList facts={facts} />
      <Fold summary={`all ${all}`}>
        <div className={css.codeBlock}>
          <span className={css.copy}>
            <CopyButton text={text} label="parameters" />
          </span>
          <LongText text={text} className={css.monoText} />
        </div>
      </Fold>
    </>
  );
}
