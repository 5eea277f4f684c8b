/** Pages shown instead of a page that does not exist or could not be rendered. */

import { Button, Stack } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { AppLink, logHref } from "~/navigation/links";

/** Shown for an address without a page. */
export function NotFound() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  return (
    <Stack component="main" align="start" gap={13} maw={640} mx="auto" my={64} px={20}>
      <p>
        There is no page at <code>{path}</code>.
      </p>
      <AppLink className="link" href={logHref(EMPTY_SEARCH)}>
        Show requests
      </AppLink>
    </Stack>
  );
}

/** Shown if rendering failed. Shows the error, and says that requests are still logged. */
export function PageFailed({ error }: { error: unknown }) {
  return (
    <Stack component="main" align="start" gap={13} maw={640} mx="auto" my={64} px={20} role="alert">
      <p>The page crashed: {error instanceof Error ? error.message : String(error)}</p>
      <p>Requests are still being relayed and logged.</p>
      <Button variant="default" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </Stack>
  );
}
