/** The input of the query language, with suggestions. */

import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, type RefObject, useCallback, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useSuggestions } from "~/api/query";
import { logQuery, type QueryError } from "~/api/requests";
import { ApiError } from "~/domain/api-error";
import { removeLastValue } from "~/domain/filter";
import type { LogSearch } from "~/domain/log-search";
import { partBefore, type Suggestion, withSuggestion } from "~/domain/query-proposals";
import { readTyped } from "~/domain/typed-terms";
import { count } from "~/format/number";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./query-input.module.css";

type QueryInputProps = {
  box: RefObject<HTMLInputElement | null>;
  /** The query in the URL, where the API does not understand it. */
  refused: QueryError | undefined;
};

const EMPTY = { text: "", caret: 0 };

/** Filters by typing, in the query language; names and values that exist are offered. */
export function QueryInput({ box, refused }: QueryInputProps) {
  const search = useLogSearch();
  const go = useLogNavigate();
  const list = useId();
  const asking = useApplyQuery();
  const [typed, setTyped] = useState(EMPTY);
  const [isOpen, setOpen] = useState(false);
  const [reached, setReached] = useState<string>();
  const [wrong, setWrong] = useState<string>();
  const [placed, setPlaced] = useState<string>();
  const suggestions = useSuggestions(typed.text, typed.caret, isOpen);
  const active = suggestions.find((suggestion) => suggestion.written === reached);
  const isListed = suggestions.length > 0;
  const problem = wrong !== undefined && refused !== undefined ? `${wrong} The log is shown without it.` : wrong;

  // What the URL has wrong stands here as if it had just been typed, once.
  if (placed !== refused?.text) {
    setPlaced(refused?.text);
    if (refused !== undefined) {
      setTyped({ text: refused.text, caret: refused.text.length });
      setWrong(refused.message);
    }
  }

  const type = (text: string, caret: number) => {
    setTyped({ text, caret });
    setReached(undefined);
    setWrong(undefined);
    setOpen(true);
  };
  const take = (suggestion: Suggestion) => {
    const next = withSuggestion(typed.text, typed.caret, suggestion);
    // The caret can be placed only in the text that is there.
    flushSync(() => type(next.text, next.caret));
    box.current?.setSelectionRange(next.caret, next.caret);
    // A name wants its value.
    setOpen(suggestion.written.endsWith(":"));
  };
  const submit = async () => {
    setOpen(false);
    const read = readTyped(typed.text.trim(), search.filter, search.range);
    if ("id" in read) {
      go({ search, id: read.id });
      return setTyped(EMPTY);
    }
    const end = await asking.applyQuery({ ...search, ...read });
    if (end === "gone") setTyped((now) => (now.text === typed.text ? EMPTY : now));
    else if (end !== "elsewhere") setWrong(end.refused);
  };
  const move = (by: 1 | -1) => {
    setOpen(true);
    const at = active === undefined ? (by === 1 ? -1 : suggestions.length) : suggestions.indexOf(active);
    setReached(suggestions[(at + by + suggestions.length) % suggestions.length]?.written);
  };
  const removeLast = () => go({ search: { ...search, filter: removeLastValue(search.filter) } });
  const key = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const isInPart = partBefore(typed.text, typed.caret) !== undefined;
    const tabbed = event.shiftKey ? undefined : (active ?? (isInPart ? suggestions[0] : undefined));
    const action = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: active && (() => take(active)),
      Tab: tabbed && (() => take(tabbed)),
      Escape: () => (isListed ? setOpen(false) : event.currentTarget.blur()),
      Backspace: typed.text === "" && search.filter.length > 0 && !event.repeat && removeLast,
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
        if (typed.text.trim() !== "") void submit();
        else if (refused !== undefined) go({ search });
      }}
    >
      <TextInput
        ref={box}
        className={css.box ?? ""}
        role="combobox"
        aria-label="Filter the log"
        aria-autocomplete="list"
        aria-expanded={isListed}
        aria-controls={isListed ? list : undefined}
        aria-activedescendant={active === undefined ? undefined : optionId(list, active)}
        aria-busy={asking.isAsking}
        error={problem === undefined ? undefined : refusalInWords(problem)}
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
        onKeyDown={key}
      />
      {isListed && <QuerySuggestions id={list} suggestions={suggestions} active={active} onTake={take} />}
    </form>
  );
}

type QuerySuggestionsProps = {
  id: string;
  suggestions: readonly Suggestion[];
  /** The one that the keyboard has reached. */
  active: Suggestion | undefined;
  onTake: (suggestion: Suggestion) => void;
};

/** What could be written next; the box has the focus all the time. */
export function QuerySuggestions({ id, suggestions, active, onTake }: QuerySuggestionsProps) {
  return (
    <div className={css.popup}>
      <div id={id} role="listbox" aria-label="What can be written here" className={css.list}>
        {suggestions.map((suggestion) => (
          <Option
            key={suggestion.written}
            id={optionId(id, suggestion)}
            suggestion={suggestion}
            isActive={suggestion.written === active?.written}
            onTake={onTake}
          />
        ))}
      </div>
      <p className={css.hint}>
        <kbd>↓</kbd> choose <kbd>Tab</kbd> take <kbd>Enter</kbd> filter the log
      </p>
    </div>
  );
}

export function optionId(list: string, suggestion: Suggestion): string {
  return `${list}-${encodeURIComponent(suggestion.written)}`;
}

type OptionProps = { id: string; suggestion: Suggestion; isActive: boolean; onTake: (suggestion: Suggestion) => void };

function Option({ id, suggestion, isActive, onTake }: OptionProps) {
  const { shown, words, requests } = suggestion;
  const intoSight = useCallback((element: HTMLElement | null) => element?.scrollIntoView?.({ block: "nearest" }), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the box's own keys reach it
    <div
      ref={isActive ? intoSight : null}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={css.option}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onTake(suggestion)}
    >
      <bdi className={css.label}>{shown}</bdi> {words !== undefined && <span className={css.note}>{words}</span>}{" "}
      {requests !== undefined && (
        <span className={css.count}>
          {count(requests)}
          <span className="visually-hidden"> requests</span>
        </span>
      )}
    </div>
  );
}

/** Asks for the log by a filter that was typed, before the URL says it: what is refused never gets there. */
export type ApplyQuery = {
  isAsking: boolean;
  /** Goes there, or says what the API has against it. `elsewhere`: the reader went there meanwhile, or asked anew. */
  applyQuery: (search: LogSearch) => Promise<"gone" | "elsewhere" | { refused: string }>;
};

export function useApplyQuery(): ApplyQuery {
  const client = useQueryClient();
  const router = useRouter();
  const go = useLogNavigate();
  const [isAsking, setAsking] = useState(false);
  const asked = useRef(0);
  return {
    isAsking,
    applyQuery: async (search) => {
      const from = router.history.location.href;
      asked.current += 1;
      const mine = asked.current;
      setAsking(true);
      // The log shows these very rows then.
      const refused = await client.fetchInfiniteQuery(logQuery(search, undefined, 0)).then(
        (log) => log.pages[0]?.refused?.message,
        (error: unknown) => (error instanceof ApiError && error.status === 400 ? error.message : undefined),
      );
      if (asked.current !== mine) return "elsewhere";
      setAsking(false);
      if (router.history.location.href !== from) return "elsewhere";
      if (refused !== undefined) return { refused };
      go({ search });
      return "gone";
    },
  };
}

/** Without the place in the call: the box may have only a part of it, and the message quotes what is wrong. */
export function refusalInWords(message: string): string {
  return message.replace(/^q, (?<part>.+?) at character \d+: /su, "$<part>: ").replace(/^q has/u, "This has");
}
