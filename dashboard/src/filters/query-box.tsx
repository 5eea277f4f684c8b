import { TextInput } from "@mantine/core";
import { type KeyboardEvent, type RefObject, useId, useState } from "react";
import { flushSync } from "react-dom";
import { useOffers } from "~/api/query";
import type { Refused } from "~/api/requests";
import { withoutLast } from "~/domain/filter";
import { type Proposal, partBefore, withProposal } from "~/domain/query-proposals";
import { readTyped } from "~/domain/typed-terms";
import { useGo } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useAsking } from "./query-asking";
import css from "./query-box.module.css";
import { optionId, QueryList } from "./query-list";
import { refusalInWords } from "./query-refusal";

type QueryBoxProps = {
  box: RefObject<HTMLInputElement | null>;
  /** The query in the URL, where the API does not understand it. */
  refused: Refused | undefined;
};

const EMPTY = { text: "", caret: 0 };

/** Filters by typing, in the query language; names and values that exist are offered. */
export function QueryBox({ box, refused }: QueryBoxProps) {
  const search = useLogSearch();
  const go = useGo();
  const list = useId();
  const asking = useAsking();
  const [typed, setTyped] = useState(EMPTY);
  const [isOpen, setOpen] = useState(false);
  const [reached, setReached] = useState<string>();
  const [wrong, setWrong] = useState<string>();
  const [placed, setPlaced] = useState<string>();
  const offers = useOffers(typed.text, typed.caret, isOpen);
  const active = offers.find((offer) => offer.written === reached);
  const isListed = offers.length > 0;
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
  const take = (offer: Proposal) => {
    const next = withProposal(typed.text, typed.caret, offer);
    // The caret can be placed only in the text that is there.
    flushSync(() => type(next.text, next.caret));
    box.current?.setSelectionRange(next.caret, next.caret);
    // A name wants its value.
    setOpen(offer.written.endsWith(":"));
  };
  const submit = async () => {
    setOpen(false);
    const read = readTyped(typed.text.trim(), search.filter, search.range);
    if ("id" in read) {
      go({ search, id: read.id });
      return setTyped(EMPTY);
    }
    const end = await asking.goIfUnderstood({ ...search, ...read });
    if (end === "gone") setTyped((now) => (now.text === typed.text ? EMPTY : now));
    else if (end !== "elsewhere") setWrong(end.refused);
  };
  const move = (by: 1 | -1) => {
    setOpen(true);
    const at = active === undefined ? (by === 1 ? -1 : offers.length) : offers.indexOf(active);
    setReached(offers[(at + by + offers.length) % offers.length]?.written);
  };
  const removeLast = () => go({ search: { ...search, filter: withoutLast(search.filter) } });
  const key = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const isInPart = partBefore(typed.text, typed.caret) !== undefined;
    const tabbed = event.shiftKey ? undefined : (active ?? (isInPart ? offers[0] : undefined));
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
      {isListed && <QueryList id={list} offers={offers} active={active} onTake={take} />}
    </form>
  );
}
