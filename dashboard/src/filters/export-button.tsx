/** The button that opens the menu to export requests. */

import { Suspense } from "react";
import type { RequestCount } from "~/generated/api-types";
import type { ActionId } from "~/ui/actions";
import { lazyPart } from "~/ui/lazy-part";
import { QuietPopover } from "~/ui/quiet-popover";

const ExportMenu = lazyPart(() => import("./export-menu").then((menu) => menu.ExportMenu));

type Props = {
  text?: string;
  matches: RequestCount | undefined;
  /** The ids of the selected requests that have ended. If there are any, the user can export only them. */
  selected?: readonly string[] | undefined;
  action?: ActionId;
};

export function ExportButton({ text = "Export…", matches, selected, action }: Props) {
  return (
    <QuietPopover text={text} width={420} {...(action !== undefined && { action })}>
      {() => (
        <Suspense fallback="Loading…">
          <ExportMenu matches={matches} selected={selected} />
        </Suspense>
      )}
    </QuietPopover>
  );
}
