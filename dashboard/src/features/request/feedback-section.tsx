/** Feedback on the request: thumbs, a label, a comment, and the feedback from others. */

import { Button, Group, Paper, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import { type OwnFeedback, useGiveFeedback } from "~/api/feedback";
import { BAD, feedbackText, GOOD, ownFeedback, scoreText } from "~/domain/feedback";
import { FilterLink } from "~/filters/filter-link";
import type { RequestDetail, RequestFeedback } from "~/generated/api-types";
import { useActions } from "~/ui/actions";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { hasTextSelection, isTextField } from "~/ui/shortcuts";
import { Timestamp } from "~/ui/timestamp";
import css from "./request.module.css";
import { isOutsidePanel } from "./side-panel";

/** The maximum lengths that the API allows. */
const MAX_LABEL = 100;
const MAX_COMMENT = 4_000;

const SAVED_MS = 2_500;

type GivingProps = {
  own: RequestFeedback | undefined;
  give: (changes: Partial<OwnFeedback>, onSaved?: () => void) => void;
};

/** Feedback on a request. While the request is running, feedback cannot be given. */
export function Feedback({ request }: { request: RequestDetail }) {
  const own = ownFeedback(request.feedback);
  const others = request.feedback.filter((each) => each !== own);
  const giving = useGiveFeedback(request.id);
  const [saved, setSaved] = useState<string>();
  const section = useRef<HTMLDivElement>(null);
  const give: GivingProps["give"] = (changes, onSaved = () => {}) => {
    // While the next request loads, this is still the previous request.
    if (section.current?.closest("[data-waits]") !== null) return;
    giving.mutate(changes, {
      onSuccess: (accepted) => {
        onSaved();
        const text = feedbackText(accepted.feedback);
        setSaved(text);
        window.setTimeout(() => setSaved((current) => (current === text ? undefined : current)), SAVED_MS);
      },
    });
  };
  if (request.outcome === "open") return <p className="note">Feedback can be given when the request has ended.</p>;
  return (
    <Stack ref={section} gap={8}>
      <Thumbs own={own} give={give} />
      <WordsForm own={own} give={give} />
      {giving.error !== null && (
        <p role="alert" className="wrap-anywhere">
          The feedback was not saved: {giving.error.message}
        </p>
      )}
      <div role="status">
        {saved !== undefined && (
          <Paper className="ellipsis" pos="fixed" bottom={48} right={24} maw={360} withBorder px={12} py={8}>
            Feedback saved: <bdi>{saved}</bdi>
          </Paper>
        )}
      </div>
      {others.length > 0 && (
        <ul className={`plain-list wrap-anywhere ${css.notes}`} aria-label="Feedback from others">
          {others.map((each) => (
            <li key={each.source}>
              <OtherFeedback feedback={each} />
            </li>
          ))}
        </ul>
      )}
    </Stack>
  );
}

/** Two buttons, which the keys `+` and `-` press. An earlier label and comment are kept. */
function Thumbs({ own, give }: GivingProps) {
  const rate = (score: number) => give({ score });
  useActions((target) => {
    if (isTextField(target) || hasTextSelection()) return {};
    return { good: () => rate(GOOD), bad: () => rate(BAD) };
  }, isOutsidePanel);
  const isOther = own !== undefined && own.score !== null && own.score !== GOOD && own.score !== BAD;
  return (
    <Group gap={4}>
      <QuietButton selected={own?.score === GOOD} onClick={() => rate(GOOD)}>
        <ThumbIcon /> Good
        <kbd className={css.key} aria-hidden="true">
          +
        </kbd>
      </QuietButton>
      <QuietButton selected={own?.score === BAD} onClick={() => rate(BAD)}>
        <ThumbIcon isDown /> Bad
        <kbd className={css.key} aria-hidden="true">
          -
        </kbd>
      </QuietButton>
      {isOther && <span className="muted">score {scoreText(own.score ?? 0)}</span>}
    </Group>
  );
}

/** A form for a label and a comment. An earlier score is kept. */
function WordsForm({ own, give }: GivingProps) {
  const [typed, setTyped] = useState<{ label?: string; comment?: string }>({});
  const { label = own?.label ?? "", comment = own?.comment ?? "" } = typed;
  const words = { label: label.trim() || null, comment: comment.trim() || null };
  const changes = {
    ...(words.label !== (own?.label ?? null) && { label: words.label }),
    ...(words.comment !== (own?.comment ?? null) && { comment: words.comment }),
  };
  const isUnchanged = Object.keys(changes).length === 0;
  const isEmpty = (own?.score ?? null) === null && words.label === null && words.comment === null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    // A saved text is no longer kept here, because somebody else may replace it.
    if (!isUnchanged && !isEmpty) give(changes, () => setTyped((last) => (last === typed ? {} : last)));
  };
  return (
    <form onSubmit={save}>
      <Stack gap={6}>
        <TextInput
          size="xs"
          aria-label="Label"
          placeholder="Label, such as wrong_tone"
          maxLength={MAX_LABEL}
          value={label}
          onChange={(event) => setTyped({ ...typed, label: event.currentTarget.value })}
        />
        <Textarea
          size="xs"
          aria-label="Comment"
          placeholder="Comment"
          rows={2}
          maxLength={MAX_COMMENT}
          value={comment}
          onChange={(event) => setTyped({ ...typed, comment: event.currentTarget.value })}
        />
        <Group gap={8}>
          <Button
            type="submit"
            variant="default"
            size="compact-sm"
            aria-disabled={isUnchanged || isEmpty || undefined}
            data-disabled={isUnchanged || isEmpty}
          >
            Save
          </Button>
          {own !== undefined && isUnchanged && (
            <span className="muted">
              saved <Timestamp at={own.at} format="ago" />
            </span>
          )}
          {own?.label != null && (
            <FilterLink name="label" value={own.label} className={pageCss.value} title={own.label}>
              <span className="muted">label</span> <bdi>{own.label}</bdi>
            </FilterLink>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** Feedback of another source. Its score and its label filter the log. */
function OtherFeedback({ feedback: { source, score, label, comment, at } }: { feedback: RequestFeedback }) {
  return (
    <>
      <span className="muted">
        <bdi>{source}</bdi>
      </span>{" "}
      {score !== null && (
        <FilterLink name="score" value={String(score)} className={pageCss.value} visibleText={scoreText(score)}>
          {score === GOOD && <ThumbIcon />}
          {score === BAD && <ThumbIcon isDown />}
          {scoreText(score)}
        </FilterLink>
      )}{" "}
      {label !== null && (
        <FilterLink name="label" value={label} className={pageCss.value} title={label}>
          <bdi>{label}</bdi>
        </FilterLink>
      )}{" "}
      {comment !== null && <bdi className="wrap-anywhere">{comment}</bdi>}{" "}
      <span className="muted">
        <Timestamp at={at} format="ago" />
      </span>
    </>
  );
}

/** A thumb that points up or down. */
function ThumbIcon({ isDown = false }: { isDown?: boolean }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="14"
      height="14"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeLinejoin="round"
      transform={isDown ? "rotate(180)" : undefined}
    >
      <path d="M2.5 7.5h2v6h-2zM4.5 8l3-5.5c1.2 0 1.8.8 1.6 1.9L8.7 6.5h3.6c.8 0 1.4.7 1.2 1.5l-1 4.3c-.2.7-.8 1.2-1.5 1.2H4.5" />
    </svg>
  );
}
