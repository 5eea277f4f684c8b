/**
 * The command palette: a text field, actions, and links to pages, saved filters, namespaces, requests and a search.
 */

import { Box, Modal, TextInput } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, type RefObject, useCallback, useId, useRef, useState } from "react";
import { useSignOut } from "~/api/session";
import inputCss from "~/filters/query-input.module.css";
import { AppLink } from "~/navigation/links";
import type { OfferedAction } from "~/ui/actions";
import pageCss from "~/ui/page.module.css";
import css from "./palette.module.css";
import { type LinkResult, type Result, useResults } from "./results";

export type PaletteProps = {
  /** The text that was typed while the dialog was loading. */
  typed: RefObject<string>;
  /** The actions that were possible when the palette was opened. */
  actions: RefObject<readonly OfferedAction[]>;
  onClose: () => void;
  /** Called after a result was opened in this tab. */
  onFollow: (opensRequest: boolean) => void;
};

export function PaletteDialog(props: PaletteProps) {
  return (
    <Modal
      opened
      onClose={props.onClose}
      withCloseButton={false}
      returnFocus={false}
      lockScroll={false}
      size={560}
      yOffset="12vh"
      padding={0}
      transitionProps={{ duration: 0 }}
      classNames={{ content: css.dialog ?? "" }}
      attributes={{ content: { "aria-label": "Command palette" } }}
    >
      <Palette {...props} />
    </Modal>
  );
}

function Palette({ typed: typedBefore, actions, onClose, onFollow }: PaletteProps) {
  const router = useRouter();
  const list = useId();
  const activeOption = useRef<HTMLElement>(null);
  const [typed, setTyped] = useState(() => typedBefore.current);
  const [activeKey, setActiveKey] = useState<string>();
  const signOut = useSignOut();
  const runAction = (run: () => void) => {
    onClose();
    run();
  };
  const groups = useResults(typed.trim(), actions.current, runAction, () => signOut.mutate());
  const results = groups.flatMap((group) => group.results);
  const active = results.find((result) => result.key === activeKey) ?? results[0];

  const move = (by: 1 | -1) => {
    const at = active === undefined ? -1 : results.indexOf(active);
    setActiveKey(results[(at + by + results.length) % results.length]?.key);
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: () => (event.ctrlKey || event.metaKey ? openTab(active) : activeOption.current?.click()),
      Escape: onClose,
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  const intoView = useCallback((option: HTMLElement | null) => {
    activeOption.current = option;
    option?.scrollIntoView?.({ block: "nearest" });
  }, []);
  const follow = ({ href, opensRequest = false }: LinkResult) => {
    router.history.push(href);
    onFollow(opensRequest);
  };

  return (
    <>
      <TextInput
        // Take the focus at once, because the dialog itself moves it later.
        ref={takeFocus}
        data-autofocus
        // Without this, Escape would also close a dialog below this one.
        data-mantine-stop-propagation
        variant="unstyled"
        className={css.input ?? ""}
        role="combobox"
        aria-label="Go to"
        aria-autocomplete="list"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={active && optionId(list, active)}
        placeholder="Action, page, saved filter, namespace, request id or text"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        enterKeyHint="go"
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setActiveKey(undefined);
        }}
        onKeyDown={handleKey}
      />
      <div className={css.list} role="listbox" id={list} aria-label="Results">
        {groups.map(({ heading, results }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not of form fields
          <div key={heading} role="group" aria-label={heading}>
            <Box className="small muted" px={8} pt={8} pb={2} aria-hidden="true">
              {heading}
            </Box>
            {results.map((result) => {
              const option = {
                ref: result === active ? intoView : null,
                id: optionId(list, result),
                className: `${pageCss.option} ${css.option}`,
                role: "option",
                "aria-selected": result === active,
                "aria-label": result.name,
                tabIndex: -1,
                children: result.content,
              };
              return "href" in result ? (
                <AppLink key={result.key} {...option} href={result.href} onFollow={() => follow(result)} />
              ) : (
                <button key={result.key} type="button" {...option} onClick={result.run} />
              );
            })}
          </div>
        ))}
      </div>
      {signOut.error !== null && (
        <Box component="p" px={16} py={5} data-tone="bad" role="alert">
          Signing out failed: {signOut.error.message}
        </Box>
      )}
      <div className={`${inputCss.hint} top-line`}>
        <kbd>↑ ↓</kbd> select <kbd>Enter</kbd> open <kbd>Ctrl+Enter</kbd> open in a new tab <kbd>Esc</kbd> close
      </div>
    </>
  );
}

function takeFocus(field: HTMLElement | null): void {
  field?.focus({ preventScroll: true });
}

function openTab(result: Result | undefined): void {
  if (result !== undefined && "href" in result) window.open(result.href, "_blank", "noopener");
}

function optionId(list: string, { key }: Result): string {
  return `${list}-${encodeURIComponent(key)}`;
}
