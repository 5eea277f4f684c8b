import { Button, Modal } from "@mantine/core";

/** Stands where the drawer would be when its file cannot be had: what to do instead. */
export function DrawerNotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title="This request cannot be shown yet"
      lockScroll={false}
      // Its <header> would count as another banner of the page.
      attributes={{ header: { role: "presentation" } }}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <p>A part of the page could not be loaded. Relaybook was updated or stopped since this tab was opened.</p>
      <Button variant="default" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </Modal>
  );
}
