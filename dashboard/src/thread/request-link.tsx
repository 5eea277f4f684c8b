import type { MouseEvent, ReactNode } from "react";
import { logHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useOpenRequest } from "./use-open-request";

type RequestLinkProps = { id: string; children: ReactNode; className?: string | undefined };

/** A real link that opens a request of the thread beside the log. */
export function RequestLink({ id, children, className }: RequestLinkProps) {
  const search = useLogSearch();
  const open = useOpenRequest();
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    open(id);
  };
  return (
    <a className={className} href={logHref(search, id)} onClick={follow}>
      {children}
    </a>
  );
}
