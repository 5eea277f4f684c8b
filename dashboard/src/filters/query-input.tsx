/** The input of the query language, with suggestions. */

import { Button, Combobox, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, type RefObject, useCallback, useContext, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { parsedQuery } from "~/api/query";
import { logQuery, type QueryError } from "~/api/requests";
import { logChangesOf } from "~/api/status";
import { ApiError, explainTerm } from "~/domain/api-error";
import { removeLastValue, removeValue } from "~/domain/filter";
import { phraseAt, queryTerm, typedParams } from "~/domain/filter-text";
import { addParams } from "~/domain/log-search";
import { count } from "~/format/number";
import type { ParsedQuery, Suggestion } from "~/generated/api-types";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import pageCss from "~/ui/page.module.css";
import { type EditedTerm, TermEditingContext } from "./edited-term";
import css from "./query-input.module.css";

type QueryInputProps = {
  box: RefObject<HTMLInputElement | null>;
  /** The query in the URL, if the API rejects it. */
  refused: QueryError | undefined;
};

type Typed = { readonly text: string; readonly caret: number };
/** The error message, and the text with the invalid part replaced. */
type Problem = { readonly message: string; readonly corrected?: string };

const EMPTY: Typed = { text: "", caret: 0 };
const DEBOUNCE_MS = 100;

/** Filters the log by a query. The API parses it and suggests names and values. */
export function QueryInput({ box, refused }: QueryInputProps) {
  const search = useLogSearch();
  const go = useLogNavigate();
  const client = useQueryClient();
  const list = useId();
  const { isApplying, applyQuery } = useApplyQuery();
  const [typed, setTyped] = useState(EMPTY);
  const [isOpen, setOpen] = useState(false);
  const [activeInsert, setActiveInsert] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const [placed, setPlaced] = useState<string>();
  const editing = useContext(TermEditingContext);
  const [placedTerm, setPlacedTerm] = useState<EditedTerm>();
  const edited = editing?.edited;
  const { suggestions, isCurrent } = useSuggestions(typed, isOpen);
  const phrase = phraseAt(typed.text, typed.caret);
  const offered = phrase === undefined ? suggestions : [phrase.suggestion, ...suggestions];
  const active = offered.find((suggestion) => suggestion.insert === activeInsert);
  const isListed = isOpen && offered.length > 0;
  const combobox = useCombobox({ opened: isListed });

  // An invalid query in the URL is placed in the input once, as if the user had just typed it.
  if (placed !== refused?.text) {
    setPlaced(refused?.text);
    if (refused !== undefined) {
      setTyped({ text: refused.text, caret: refused.text.length });
      setProblem({ message: refused.message });
    }
  }

  if (placedTerm !== edited) {
    setPlacedTerm(edited);
    const text = edited === undefined ? "" : queryTerm(edited.name, edited.value, edited.negated);
    setTyped({ text, caret: text.length });
    setProblem(undefined);
  }

  const type = (text: string, caret: number) => {
    setTyped({ text, caret });
    setActiveInsert(undefined);
    setProblem(undefined);
    setOpen(true);
  };
  const replace = (text: string, caret: number) => {
    // The input must have the new text before the caret can be set in it.
    flushSync(() => type(text, caret));
    box.current?.setSelectionRange(caret, caret);
  };
  /**
   * Insert the suggestion, or the first suggestion for the last word if none is given. Calls the API if the suggestions
   * belong to an earlier text. With `isChosen`, a suggestion that is a whole filter for a word also filters the log.
   */
  const complete = async (insert: string | undefined, isChosen = false) => {
    const parsed = await client.ensureQueryData(parsedQuery(typed.text, typed.caret)).catch(() => undefined);
    if (parsed === undefined || box.current?.value !== typed.text) return;
    const { items, ...place } = parsed.suggestions;
    const options = phrase === undefined ? items : [...items, phrase.suggestion];
    const chosen = insert === undefined ? options[0] : options.find((option) => option.insert === insert);
    if (chosen === undefined) return;
    const { start, end } = chosen === phrase?.suggestion ? phrase : place;
    replace(typed.text.slice(0, start) + chosen.insert + typed.text.slice(end), start + chosen.insert.length);
    // After a name, its values are suggested.
    setOpen(chosen.insert.endsWith(":"));
    if (isChosen && chosen.is_filter) {
      const text = typed.text.slice(0, start) + chosen.insert + typed.text.slice(end);
      await submit({ text, caret: text.length });
    }
  };
  const submit = async (query = typed) => {
    setOpen(false);
    const outcome = await applyQuery(query, edited);
    if (outcome === "applied") {
      setTyped((current) => (current.text === query.text ? EMPTY : current));
      editing?.edit(undefined);
    } else if (outcome !== "outdated") setProblem(outcome);
  };
  const move = (by: 1 | -1) => {
    setOpen(true);
    const at = active === undefined ? (by === 1 ? -1 : offered.length) : offered.indexOf(active);
    setActiveInsert(offered[(at + by + offered.length) % offered.length]?.insert);
  };
  const handleKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const isInPart = /\S$/u.test(typed.text.slice(0, typed.caret));
    const canComplete = isOpen && (active !== undefined || (isInPart && (offered.length > 0 || !isCurrent)));
    const action = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: isListed && active !== undefined && (() => void complete(activeInsert, true)),
      Tab: canComplete && !event.shiftKey && (() => void complete(activeInsert)),
      Escape: () => {
        if (isListed) return setOpen(false);
        editing?.edit(undefined);
        // A text that filters nothing would look like a filter.
        if (typed.text !== refused?.text) {
          setTyped(EMPTY);
          setProblem(undefined);
        }
        event.currentTarget.blur();
      },
      Backspace:
        typed.text === "" &&
        edited === undefined &&
        search.filter.length > 0 &&
        !event.repeat &&
        (() => go({ search: { ...search, filter: removeLastValue(search.filter) } })),
    }[event.key];
    if (typeof action !== "function") return;
    event.preventDefault();
    action();
  };

  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.text.trim() !== "" || edited !== undefined) void submit();
        else if (refused !== undefined) go({ search });
      }}
    >
      <Combobox
        store={combobox}
        onOptionSubmit={(insert) => void complete(insert, true)}
        position="bottom-start"
        offset={4}
        width="min(520px, calc(100vw - 24px))"
        withinPortal={false}
        keepMounted={false}
        shadow="md"
      >
        <Combobox.Target withAriaAttributes={false} withKeyboardNavigation={false}>
          <TextInput
            ref={box}
            className={css.box ?? ""}
            role="combobox"
            aria-label="Filter the log"
            aria-autocomplete="list"
            aria-expanded={isListed}
            aria-controls={isListed ? list : undefined}
            aria-activedescendant={isListed && active !== undefined ? optionId(list, active) : undefined}
            aria-busy={isApplying}
            error={problem && <ProblemText problem={problem} isInUrl={refused !== undefined} onCorrect={replace} />}
            errorProps={{ role: "alert", className: css.problem ?? "" }}
            placeholder={'/  search, or namespace:production -model:gpt-4o* duration:>2s "refund"'}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            enterKeyHint="search"
            value={typed.text}
            onChange={({ currentTarget }) => type(currentTarget.value, currentTarget.selectionStart ?? 0)}
            onSelect={({ currentTarget: { selectionStart } }) =>
              setTyped((last) => (last.caret === selectionStart ? last : { ...last, caret: selectionStart ?? 0 }))
            }
            onClick={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onKeyDown={handleKey}
          />
        </Combobox.Target>
        <Combobox.Dropdown className={css.popup ?? ""}>
          <Combobox.Options id={list} aria-label="Suggestions" className={css.list}>
            {offered.map((suggestion) => (
              <Option
                key={suggestion.insert}
                id={optionId(list, suggestion)}
                suggestion={suggestion}
                isActive={suggestion === active}
              />
            ))}
          </Combobox.Options>
          {phrase !== undefined && <div className={css.about}>Without quotes, each word matches anywhere.</div>}
          <Combobox.Footer className={css.hint}>
            <kbd>↓</kbd> select <kbd>Tab</kbd> complete <kbd>Enter</kbd> filter the log
          </Combobox.Footer>
        </Combobox.Dropdown>
      </Combobox>
    </form>
  );
}

/**
 * Suggestions for the text. Until they are loaded, the suggestions for the previous text are returned and `isCurrent`
 * is false.
 */
function useSuggestions(typed: Typed, isOpen: boolean): { suggestions: readonly Suggestion[]; isCurrent: boolean } {
  const [settled] = useDebouncedValue(typed, DEBOUNCE_MS);
  const parsed = useQuery({ ...parsedQuery(settled.text, settled.caret), enabled: isOpen });
  const isCurrent = settled === typed && parsed.data !== undefined && !parsed.isPlaceholderData;
  return { suggestions: parsed.data?.suggestions.items ?? NONE, isCurrent };
}

const NONE: readonly Suggestion[] = [];

function optionId(list: string, suggestion: Suggestion): string {
  return `${list}-${encodeURIComponent(suggestion.insert)}`;
}

type OptionProps = { id: string; suggestion: Suggestion; isActive: boolean };

function Option({ id, suggestion: { insert, label, hint, requests }, isActive }: OptionProps) {
  const intoView = useCallback((element: HTMLElement | null) => element?.scrollIntoView?.({ block: "nearest" }), []);
  return (
    <Combobox.Option
      ref={isActive ? intoView : null}
      id={id}
      value={insert}
      selected={isActive}
      aria-selected={isActive}
      className={pageCss.option ?? ""}
    >
      <bdi className={css.label}>{label}</bdi> {hint !== null && <span className={css.note}>{hint}</span>}{" "}
      {requests !== null && (
        <span className={css.count}>
          {count(requests)}
          <span className="visually-hidden"> {requests === 1 ? "request" : "requests"}</span>
        </span>
      )}
    </Combobox.Option>
  );
}

type ProblemTextProps = { problem: Problem; isInUrl: boolean; onCorrect: (text: string, caret: number) => void };

function ProblemText({ problem: { message, corrected }, isInUrl, onCorrect }: ProblemTextProps) {
  return (
    <>
      {isInUrl ? `${message} The log is shown without this query.` : message}{" "}
      {corrected !== undefined && (
        <Button
          mt={2}
          ff="monospace"
          variant="default"
          size="compact-xs"
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onCorrect(corrected, corrected.length)}
        >
          {corrected}
        </Button>
      )}
    </>
  );
}

type ApplyQuery = {
  isApplying: boolean;
  /**
   * Add the query to the filter of the URL in place of the edited value, or open a request if the query is its id. If
   * the API rejects the query, the URL does not change and the problem is returned. `outdated` means that the user has
   * navigated or submitted again meanwhile.
   */
  applyQuery: (typed: Typed, edited: EditedTerm | undefined) => Promise<"applied" | "outdated" | Problem>;
};

function useApplyQuery(): ApplyQuery {
  const client = useQueryClient();
  const router = useRouter();
  const search = useLogSearch();
  const go = useLogNavigate();
  const [isApplying, setApplying] = useState(false);
  const latest = useRef(0);

  const applyQuery: ApplyQuery["applyQuery"] = async ({ text, caret }, edited) => {
    const base =
      edited === undefined
        ? search
        : { ...search, filter: removeValue(search.filter, edited.name, edited.value, edited.negated) };
    const from = router.history.location.href;
    latest.current += 1;
    const mine = latest.current;
    setApplying(true);
    const next = await client.ensureQueryData(parsedQuery(text, caret)).then(async (parsed) => {
      if (parsed.error !== null) return problemOf(text, parsed.error);
      if (parsed.request_id !== null) return { search, id: parsed.request_id };
      const nextSearch = addParams(base, typedParams(text, parsed));
      // The rows are loaded first, so that the log shows them as soon as the URL changes. If they cannot be read, the
      // log shows why.
      return client.fetchInfiniteQuery(logQuery(nextSearch, undefined, logChangesOf(client))).then(
        () => ({ search: nextSearch }),
        (error: unknown) => (isRejected(error) ? { message: error.message } : { search: nextSearch }),
      );
    }, toProblem);
    if (latest.current !== mine) return "outdated";
    setApplying(false);
    if (router.history.location.href !== from) return "outdated";
    if ("message" in next) return next;
    go(next);
    return "applied";
  };
  return { isApplying, applyQuery };
}

function isRejected(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 400;
}

function toProblem(error: Error): Problem {
  return { message: error.message };
}

function problemOf(text: string, error: NonNullable<ParsedQuery["error"]>): Problem {
  const { start, end, code, message, replacement } = error;
  const explained = explainTerm(code === "too_long" ? undefined : text.slice(start, end), message);
  if (replacement === null) return { message: explained };
  return { message: explained, corrected: text.slice(0, start) + replacement + text.slice(end) };
}
