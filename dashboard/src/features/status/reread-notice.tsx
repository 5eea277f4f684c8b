/** A line with the progress while requests are being read again. */

import { useRunningReread } from "~/api/rereads";
import { count, percent, plural } from "~/format/number";
import { ProgressNotice } from "~/ui/messages";

/** Shows the progress of a reread that was started or seen in this tab. */
export function RereadNotice() {
  const reread = useRunningReread();
  if (reread === undefined) return <ProgressNotice text="" />;
  const { requests, read } = reread;
  return (
    <ProgressNotice
      text={`Reading ${plural(requests, "request")} again: ${count(read)} read (${percent(read, requests)}).`}
    />
  );
}
