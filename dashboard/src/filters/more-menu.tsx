/** The menu of actions for the filtered requests that are rarely needed. */

import { Box } from "@mantine/core";
import { Suspense } from "react";
import { useLogSearch } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import { lazyPart } from "~/ui/lazy-part";
import pageCss from "~/ui/page.module.css";
import { QuietPopover } from "~/ui/quiet-popover";
import { useDialog } from "~/ui/use-dialog";

const RereadDialog = lazyPart(() => import("./reread-dialog").then((dialog) => dialog.RereadDialog));
const DeleteDialog = lazyPart(() => import("./delete-dialog").then((dialog) => dialog.DeleteMatchesDialog));

/** The whole log cannot be deleted, so an unfiltered log has no action for it. */
export function MoreMenu() {
  const { filter, range } = useLogSearch();
  const isFiltered = filter.length > 0 || Object.keys(range).length > 0;
  const reread = useDialog();
  const deletion = useDialog();
  useActions(() => ({ reread: reread.open, deleteRequests: isFiltered && deletion.open }));
  return (
    <>
      <QuietPopover text="⋯" label="More actions" width={340}>
        {(closeMenu) => (
          <>
            <MenuItem
              name="Read again…"
              about="Reads the stored bodies with the formats and prices of this version"
              onSelect={() => {
                closeMenu();
                reread.open();
              }}
            />
            {isFiltered && (
              <MenuItem
                name="Delete these requests…"
                about="For good, with their bodies, after a confirmation"
                isDangerous
                onSelect={() => {
                  closeMenu();
                  deletion.open();
                }}
              />
            )}
          </>
        )}
      </QuietPopover>
      <Suspense>{reread.isOpen && <RereadDialog onClose={reread.close} />}</Suspense>
      <Suspense>{deletion.isOpen && <DeleteDialog onClose={deletion.close} />}</Suspense>
    </>
  );
}

type ItemProps = { name: string; about: string; isDangerous?: boolean; onSelect: () => void };

function MenuItem({ name, about, isDangerous = false, onSelect }: ItemProps) {
  return (
    <Box component="button" type="button" className={pageCss.option} display="block" ta="start" onClick={onSelect}>
      <span className="strong" data-tone={isDangerous ? "bad" : undefined}>
        {name}
      </span>
      <br />
      <span className="muted small">{about}</span>
    </Box>
  );
}
