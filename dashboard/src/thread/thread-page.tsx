import { useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { formatSearch } from "~/domain/log-search";
import { SearchContext, useLogSearch } from "~/navigation/search-context";
import { Letters } from "./letters";

/** One namespace or property value, read like letters: conversations in time order, of each request what is new in it. */
export function ThreadPage() {
  const inUrl = useLogSearch();
  const isHere = useLocation({ select: ({ pathname }) => pathname.endsWith("/thread") });
  // On the way to another page the URL is that one's already.
  const [own, setOwn] = useState(inUrl);
  if (isHere && own !== inUrl) setOwn(inUrl);
  return (
    <SearchContext value={own}>
      <Letters key={formatSearch(own)} />
    </SearchContext>
  );
}
