/** The menu of actions for the filtered requests that are rarely needed. */

import { Box } from "@mantine/core";
import { Suspense } from "react";
import { lazyPart } from "~/ui/lazy-part";
import pageCss from "~/ui/page.module.css";
import { QuietPopover } from "~/ui/quiet-popover";
import { useDialog } from "~/ui/use-dialog";

const RereadDialog = lazyPart(() => import("./reread-dialog").then((dialog) => dialog.RereadDialog));

export function MoreMenu() {
  const { isOpen, open, close } = useDialog();
  return (
    <>
      <QuietPopover text="⋯" label="More actions" width={340}>
        {(closeMenu) => (
          <Box
            component="button"
            type="button"
            className={pageCss.option}
            display="block"
            ta="start"
            onClick={() => {
              closeMenu();
              open();
            }}
          >
            <span className="strong">Read again…</span>
            <br />
            <span className="muted small">Use the formats and prices of the running version</span>
          </Box>
        )}
      </QuietPopover>
      <Suspense>{isOpen && <RereadDialog onClose={close} />}</Suspense>
    </>
  );
}
