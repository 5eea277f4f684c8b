/** A text somebody types that goes into the URL: the box has it at once, the URL when the typing rests. */

import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";

const REST_MS = 150;

export type Typed = {
  text: string;
  type: (text: string) => void;
  /** Does not wait until the typing rests. */
  commit: () => void;
};

/** `inUrl` wins when it changes to what was not typed here: by Back, or by a link. */
export function useTyped(inUrl: string, tell: (text: string) => void): Typed {
  const [state, setState] = useState({ text: inUrl, told: inUrl, seen: inUrl });
  if (state.seen !== inUrl) {
    const isOurs = state.told === inUrl;
    setState(isOurs ? { ...state, seen: inUrl } : { text: inUrl, told: inUrl, seen: inUrl });
  }
  const commit = () => {
    if (state.text === state.told) return;
    setState({ ...state, told: state.text });
    tell(state.text);
  };
  const commitSoon = useDebouncedCallback(commit, REST_MS);
  return {
    text: state.text,
    type: (text) => {
      setState({ ...state, text });
      commitSoon();
    },
    commit,
  };
}
