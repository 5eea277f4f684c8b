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
const show = () => fireEvent.click(screen.getByRole("button", { name: "Show" }));

it("shows what it showed where nothing was changed, to the microsecond", async () => {
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

it("shows the moment that a relative end means, and takes it beside a new one", async () => {
  const { where } = await renderAt("?from=-1h", <TimeRange />);
  await open();
  const shown = new Date((screen.getByLabelText("From") as HTMLInputElement).value);
  expect(Math.abs(shown.getTime() - (Date.now() - 3_600_000))).toBeLessThan(5_000);
  fireEvent.change(screen.getByLabelText("To"), { target: { value: "2030-01-01T00:00:00" } });
  show();
  expect(where()).toMatch(`from=${shown.toISOString()}&to=20`);
});

it("leaves a relative range as it is where nothing was changed", async () => {
  const { where } = await renderAt("?from=-1h", <TimeRange />);
  await open();
  show();
  expect(where()).toBe("/requests?from=-1h");
});
