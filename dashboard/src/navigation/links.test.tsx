import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { AppLink, useListSearch } from "./links";
import { ALL_NAMESPACES } from "./list-search";

it("a plain click on a link navigates without reloading the page", async () => {
  const { where } = await renderAt("", <AppLink href="/overview?by=model">Overview</AppLink>);
  expect(fireEvent.click(await screen.findByRole("link"))).toBe(false);
  expect(where()).toBe("/overview?by=model");
});

it.each([{ ctrlKey: true }, { metaKey: true }, { shiftKey: true }, { altKey: true }, { button: 1 }])(
  "a click with %o is left to the browser",
  async (click) => {
    const onFollow = vi.fn();
    await renderAt(
      "",
      <AppLink href="/overview" onFollow={onFollow}>
        Overview
      </AppLink>,
    );
    expect(fireEvent.click(await screen.findByRole("link"), click)).toBe(true);
    expect(onFollow).not.toHaveBeenCalled();
  },
);

it("a link with an action runs it instead, with hasModifiers also for Alt-click and Shift-click", async () => {
  const onFollow = vi.fn();
  const { where } = await renderAt(
    "",
    <AppLink href="/overview" onFollow={onFollow} hasModifiers>
      Open
    </AppLink>,
  );
  const link = await screen.findByRole("link");
  fireEvent.click(link);
  fireEvent.click(link, { altKey: true });
  fireEvent.click(link, { shiftKey: true });
  fireEvent.click(link, { ctrlKey: true });
  expect(onFollow).toHaveBeenCalledTimes(3);
  expect(where()).toBe("/requests");
});

it("the parameters of another page are not those of a list", async () => {
  let list: unknown;
  function List() {
    list = useListSearch();
    return null;
  }
  await renderAt("?sort=duration_ms&prefix=a", <List />);
  expect(list).toEqual(ALL_NAMESPACES);
});
