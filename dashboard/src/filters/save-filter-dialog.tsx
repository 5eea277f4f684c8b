/** The dialog that saves the current filter under a name. */

import { Box, Button, Group, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { savedFiltersQuery, useSaveFilter } from "~/api/saved-filters";
import { describeSearch } from "~/domain/filter-text";
import { useLogSearch } from "~/navigation/search-context";
import { Dialog } from "~/ui/dialog";

const MAX_NAME = 64;

export function SaveFilterDialog({ onClose }: { onClose: () => void }) {
  const search = useLogSearch();
  const [typed, setTyped] = useState("");
  const saved = useQuery(savedFiltersQuery()).data;
  const saving = useSaveFilter();
  const name = typed.trim();
  const isKnown = saved?.some((one) => one.name === name) === true;
  return (
    <Dialog title="Save filter" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== "" && !saving.isPending) saving.mutate({ name, search }, { onSuccess: onClose });
        }}
      >
        <p className="note">{describeSearch(search)}</p>
        <TextInput
          data-autofocus
          mt={8}
          label="Name"
          description="Everyone who uses this log sees the saved filters."
          maxLength={MAX_NAME}
          autoComplete="off"
          value={typed}
          error={saving.error && `This filter cannot be saved: ${saving.error.message}`}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            saving.reset();
          }}
        />
        <Box component="p" className="muted" mih={20} mb={8} role="status">
          {isKnown && "A filter with this name exists and will be replaced."}
        </Box>
        <Group justify="end" gap={8}>
          <Button variant="default" size="compact-md" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="default" size="compact-md" disabled={name === ""} loading={saving.isPending}>
            {isKnown ? "Replace" : "Save"}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
