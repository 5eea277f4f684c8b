import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { Timing } from "./timing-section";

const STREAM = sampleRequest({
  stream: true,
  first_token_ms: 412,
  relay_ms: 0.9,
  duration_ms: 2412,
  tokens_per_second: 59,
  chunks: 3,
  timeline: [
    [412, 20],
    [1000, 30],
    [2400, 30],
  ],
});

it("the timeline has a time axis", async () => {
  const request = sampleRequest({
    duration_ms: 2410,
    timeline: [
      [412, 20],
      [2400, 30],
    ],
  });
  await renderAt("", <Timing request={request} />);
  expect(screen.getByRole("slider").nextElementSibling).toHaveTextContent("0500 ms1 s1.5 s2 s");
});

it("the phases add up to the duration, and the tokens per second are those of the streaming", async () => {
  await renderAt("", <Timing request={sampleRequest({ ...STREAM, relay_ms: 100 })} />);
  const facts = screen.getAllByRole("definition").map(({ textContent }) => textContent);
  expect(facts).toEqual(["100 ms", "312 ms", "2.00 s", "59"]);
});

describe("the text at a moment of the stream", () => {
  it("is shown for the chunk that the keys select, and the new part is marked", async () => {
    const steps = [
      [2, 0, "Your refund"],
      [3, 11, " was sent."],
    ];
    vi.stubGlobal("fetch", async () => Response.json({ steps }));
    await renderAt("", <Timing request={STREAM} />);
    const slider = screen.getByRole("slider");
    fireEvent.focus(slider);
    expect(await screen.findByText("No text had arrived.")).toBeVisible();
    fireEvent.keyDown(slider, { key: "ArrowRight" });
    expect(screen.getByLabelText("Text that had arrived")).toHaveTextContent("Your refund");
    expect(slider).toHaveAttribute("aria-valuetext", "Chunk 2 after 1.00 s, 30 B: Your refund");
    fireEvent.keyDown(slider, { key: "End" });
    expect(screen.getByLabelText("Text that had arrived")).toHaveTextContent("Your refund was sent.");
    expect(screen.getByText("was sent.")).toBeVisible();
  });

  it("is not loaded for a response that is not a stream", async () => {
    const fetch = vi.fn();
    vi.stubGlobal("fetch", fetch);
    await renderAt("", <Timing request={{ ...STREAM, stream: false }} />);
    fireEvent.focus(screen.getByRole("slider"));
    expect(fetch).not.toHaveBeenCalled();
  });
});

it("with many chunks, the rate over time and the stalls are shown", async () => {
  const timeline = Array.from({ length: 300 }, (_, at): [number, number] => [at * 10 + (at > 100 ? 900 : 0), 20]);
  await renderAt("", <Timing request={{ ...STREAM, timeline, chunks: 300, duration_ms: 3900 }} />);
  expect(screen.getByText(/the chart shows the rate over time/)).toHaveTextContent(
    "300 chunks, median gap 10 ms, longest gap 910 ms (after chunk 101); the chart shows the rate over time, up to ≈40 tokens/s; 1 stall: 910 ms after chunk 101",
  );
});
