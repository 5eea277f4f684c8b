import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { HistogramBars, HistogramStrip } from "./histogram";

const MINUTE = 60_000;
const START = new Date("2026-11-22T14:00:00Z").getTime();
const BARS = Array.from({ length: 10 }, (_, at) => ({
  from: START + at * MINUTE,
  to: START + (at + 1) * MINUTE,
  requests: at,
  failed: 0,
  p50: null,
}));
const minute = (at: number) => new Date(START + at * MINUTE).toISOString();

function strip() {
  const onChosen = vi.fn();
  render(<HistogramStrip bars={BARS} isOld={false} onChosen={onChosen} />);
  const slider = screen.getByRole("slider");
  const press = (...keys: string[]) => {
    for (const key of keys) fireEvent.keyDown(slider, { key: key.replace("Shift+", ""), shiftKey: key.includes("+") });
  };
  return { onChosen, slider, press };
}

it("the arrow keys move along the bars and describe each bar, and Enter selects its time range", () => {
  const { onChosen, slider, press } = strip();
  press("ArrowLeft", "ArrowLeft");
  expect(slider).toHaveAttribute("aria-valuenow", "8");
  expect(slider.getAttribute("aria-valuetext")).toContain("8 requests");
  press("Enter");
  expect(onChosen).toHaveBeenCalledExactlyOnceWith({ from: minute(8), to: minute(9) });
});

it("Shift selects several bars, and Home and End go to the first and last bar", () => {
  const { onChosen, slider, press } = strip();
  press("Home", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight");
  expect(slider.getAttribute("aria-valuetext")).toContain("6 requests");
  press("Enter");
  expect(onChosen).toHaveBeenCalledWith({ from: minute(1), to: minute(4) });
  press("End", "Shift+ArrowRight", "Enter");
  expect(onChosen).toHaveBeenLastCalledWith({ from: minute(9), to: minute(10) });
});

it("after Escape, Enter selects nothing", () => {
  const { onChosen, press } = strip();
  press("ArrowLeft", "Shift+ArrowLeft", "Escape", "Enter");
  expect(onChosen).not.toHaveBeenCalled();
});

it.each([3, 40])("a bar is as wide as its bucket, except for a small gap: %d bars", (number) => {
  const bars = Array.from({ length: number }, (_, at) => ({ from: at, to: at + 1, requests: 1, failed: 0, p50: null }));
  const { container } = render(<HistogramBars bars={bars} />);
  const width = Number(/h([\d.]+)/.exec(container.querySelector("path")?.getAttribute("d") ?? "")?.[1]);
  expect(width).toBeGreaterThan(0.8);
  expect(width).toBeLessThan(1);
});

it("keys of the histogram do not reach the log, and all other keys do", () => {
  const heard = vi.fn();
  window.addEventListener("keydown", heard);
  const { press } = strip();
  press("j");
  expect(heard).toHaveBeenCalledOnce();
  press("Home", "Enter");
  expect(heard).toHaveBeenCalledOnce();
  window.removeEventListener("keydown", heard);
});
