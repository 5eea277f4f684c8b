import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { Timing } from "./timing-section";

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
