import { Button } from "@mantine/core";

/** The page itself has a defect: what happened, and that nothing is lost by it. */
export function PageFailed({ error }: { error: unknown }) {
  return (
    <main style={{ maxWidth: 640, margin: "64px auto", padding: "0 20px" }} role="alert">
      <p>This page has failed: {error instanceof Error ? error.message : String(error)}</p>
      <p>Requests are still being relayed and logged.</p>
      <Button variant="default" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </main>
  );
}
