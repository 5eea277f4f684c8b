/** The values of the filter: each can be edited or removed, and a text search can be limited to a part of a request. */

import { useContext } from "react";
import { addValue, fieldOf, isWordTerm, PREFIX, removeValue, WORD_FIELDS } from "~/domain/filter";
import { describeValue, termLabel } from "~/domain/filter-text";
import { FIELD_LABELS } from "~/generated/vocabulary";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { QuietButton } from "~/ui/quiet-button";
import { type EditedTerm, TermEditingContext } from "./edited-term";
import css from "./filter-bar.module.css";

/** The values, each with a remove button. */
export function FilterTerms() {
  const { filter } = useLogSearch();
  const hasSearch = useContext(TermEditingContext) !== undefined;
  if (filter.length === 0) {
    return <span className={`ellipsis muted ${css.hint}`}>To filter, click a value{hasSearch && " or search"}.</span>;
  }
  return filter.flatMap(({ name, values, negated }) =>
    values.map((value) => (
      <FilterTerm key={`${negated}${name}=${value}`} name={name} value={value} negated={negated} />
    )),
  );
}

function FilterTerm(term: EditedTerm) {
  const search = useLogSearch();
  const go = useLogNavigate();
  const editing = useContext(TermEditingContext);
  const { name, value, negated } = term;
  const text = describeValue(name, value, negated);
  const { edited } = editing ?? {};
  const isEdited = edited?.name === name && edited.value === value && edited.negated === negated;
  const before = `${text.name} ${text.verb}`.trim();
  const shown = (
    <>
      {!isWordTerm(name) && <span className="muted nowrap">{before}</span>}{" "}
      <bdi className="ellipsis strong">{text.value}</bdi>
    </>
  );
  return (
    <span className={css.term} data-negated={negated || undefined} data-edited={isEdited || undefined}>
      {isWordTerm(name) && <SearchedPart {...term} />}
      {editing === undefined || name === "q" ? (
        <span className={css.value} title={text.value}>
          {shown}
        </span>
      ) : (
        <button
          type="button"
          className={css.value}
          data-edits=""
          title={`${text.value} · edit`}
          aria-label={`Edit ${termLabel(text)}`}
          onClick={() => editing.edit(isEdited ? undefined : term)}
        >
          {shown}
        </button>
      )}
      <QuietButton
        label={`Remove ${termLabel(text)}`}
        onClick={() => {
          if (isEdited) editing?.edit(undefined);
          go({ search: { ...search, filter: removeValue(search.filter, name, value, negated) } });
        }}
      >
        ×
      </QuietButton>
    </span>
  );
}

/** Where a text is searched: in the whole request, only where it was said first, in the response or in the prompt. */
function SearchedPart({ name, value, negated }: EditedTerm) {
  const search = useLogSearch();
  const go = useLogNavigate();
  const prefix = name.startsWith(PREFIX) ? PREFIX : "";
  const choose = (field: string) => {
    const rest = removeValue(search.filter, name, value, negated);
    const filter = negated
      ? [...rest, { name: prefix + field, values: [value], negated }]
      : addValue(rest, prefix + field, value);
    go({ search: { ...search, filter } });
  };
  return (
    <select
      className={css.part}
      aria-label={`Where to search for ${value}`}
      title="Text also finds the earlier messages of a conversation. New text finds a text only where it is new."
      value={fieldOf(name)}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {WORD_FIELDS.map((field) => (
        <option key={field} value={field}>
          {negated ? "not " : ""}
          {FIELD_LABELS[field] ?? field}
        </option>
      ))}
    </select>
  );
}
