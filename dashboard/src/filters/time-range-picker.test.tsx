import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderAt } from "~/test/render";
import { TimeRange } from "./time-range-picker";

const FROM = "2026-10-25T01:30:00.123456Z";
const TO = "2026-10-25T03:30:00.654321Z";

async function open(): Promise<void> {
  fireEvent.click(await screen.findByRole("button", { expanded: false }));
  await screen.findByLabelText("From");
}
const show = () => fireEvent.click(screen.getByRole("button", { name: "Apply" }));

it("keeps an unchanged range to the microsecond", async () => {
  const { where } = await renderAt(`?from=${FROM}&to=${TO}`, <TimeRange />);
  await open();
  show();
  expect(where()).toBe(`/requests?from=${FROM}&to=${TO}`);
});

it("changes only the end that was changed", async () => {
  const { where } = await renderAt(`?from=${FROM}&to=${TO}`, <TimeRange />);
  await open();
  fireEvent.change(screen.getByLabelText("To"), { target: { value: "2026-10-26T00:00:00" } });
  show();
  expect(where()).toMatch(`/requests?from=${FROM}&to=2026-10-2`);
  expect(where()).not.toContain(TO);
});

it("replaces a relative end by its timestamp if the other end is changed", async () => {
  const { where } = await renderAt("?from=-1h", <TimeRange />);
  await open();
  const shown = new Date((screen.getByLabelText("From") as HTMLInputElement).value);
  expect(Math.abs(shown.getTime() - (Date.now() - 3_600_000))).toBeLessThan(5_000);
  fireEvent.change(screen.getByLabelText("To"), { target: { value: "2030-01-01T00:00:00" } });
  show();
  expect(where()).toMatch(`from=${shown.toISOString()}&to=20`);
});

it("shows a timestamp without an offset in the viewer's time zone", async () => {
  await renderAt("?from=2026-11-21T14:00:00", <TimeRange />);
  await open();
  const { value } = screen.getByLabelText("From") as HTMLInputElement;
  expect(new Date(value).toISOString()).toBe("2026-11-21T14:00:00.000Z");
});

it("keeps an unchanged relative range", async () => {
  const { where } = await renderAt("?from=-1h", <TimeRange />);
  await open();
  show();
  expect(where()).toBe("/requests?from=-1h");
});

it("offers today and yesterday, in the viewer's time zone", async () => {
  const midnight = (days: number) => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
  };
  const { where } = await renderAt("", <TimeRange />);
  await open();
  fireEvent.click(screen.getByRole("button", { name: "Yesterday" }));
  expect(where()).toBe(`/requests?from=${midnight(-1)}&to=${midnight(0)}`);
  const again = await renderAt(`?from=${midnight(0)}`, <TimeRange />);
  expect(await screen.findByRole("button", { name: /^Today/, expanded: false })).toBeVisible();
  expect(again.where()).toContain(midnight(0));
});

it("refuses an end before its start, in the viewer's time zone", async () => {
  const { where } = await renderAt("", <TimeRange />);
  await open();
  fireEvent.change(screen.getByLabelText("From"), { target: { value: "2026-11-21T14:00:00" } });
  fireEvent.change(screen.getByLabelText("To"), { target: { value: "2026-11-21T13:59:59" } });
  expect(screen.getByText(/^The end must be after 2026-11-21 14:00/)).toBeVisible();
  expect(screen.getByRole("button", { name: "Apply" })).toBeDisabled();
  fireEvent.submit(screen.getByRole("button", { name: "Apply" }));
  expect(where()).toBe("/requests");
});
