import { useLocation } from "@tanstack/react-router";
import { EVERYTHING } from "~/domain/log-search";
import { logHref } from "~/navigation/links";

/** No page has this address. */
export function NotFound() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  return (
    <main style={{ maxWidth: 640, margin: "64px auto", padding: "0 20px" }}>
      <p>
        There is no page at <code>{path}</code>.
      </p>
      <a href={logHref(EVERYTHING)}>To the log</a>
    </main>
  );
}
