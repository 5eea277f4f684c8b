import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PAGE } from "~/api/page-config";
import { useStatus } from "~/api/status";
import { answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { SampleNote, VersionNotice } from "./banners";

beforeEach(() => sessionStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  PAGE.build = "";
});

/** Shows a text once the status is known, so that a test can wait for the status before it checks that nothing is shown. */
function StatusReader() {
  return useStatus(() => "status known");
}

describe("the note on sample data", () => {
  it("says where the data comes from", async () => {
    answerWith(statusWith({ sample_data: true }));
    await renderAt("", <SampleNote />);
    expect(await screen.findByRole("region", { name: "Sample data" })).toHaveTextContent(
      "Sample data from a simulated upstream",
    );
  });

  it("can be hidden for this tab", async () => {
    answerWith(statusWith({ sample_data: true }));
    const user = userEvent.setup();
    await renderAt("", <SampleNote />);
    await user.click(await screen.findByRole("button", { name: "Hide the note about sample data" }));
    expect(screen.queryByRole("region")).not.toBeInTheDocument();
    await renderAt("", [<SampleNote key="note" />, <StatusReader key="status" />]);
    expect(await screen.findByText("status known")).toBeVisible();
    expect(screen.queryByRole("region")).not.toBeInTheDocument();
  });

  it("is not shown for a real log", async () => {
    answerWith(statusWith());
    await renderAt("", [<SampleNote key="note" />, <StatusReader key="status" />]);
    expect(await screen.findByText("status known")).toBeVisible();
    expect(screen.queryByRole("region")).not.toBeInTheDocument();
  });
});

describe("the banner about a new build", () => {
  it("is shown if the server has another build, and reloads the page", async () => {
    PAGE.build = "1111";
    answerWith(statusWith({ page_build: "2222" }));
    const reload = vi.fn();
    await renderAt("", <VersionNotice reload={reload} />);
    await userEvent.click(await screen.findByRole("button", { name: "Reload" }));
    expect(screen.getByRole("status")).toHaveTextContent("Relaybook was updated. Reload to use the new page.");
    expect(reload).toHaveBeenCalledOnce();
  });

  it.each([
    ["the same build", "1111", "1111"],
    ["a server that has no page", "1111", null],
    ["a page without a build, as in development", "", "2222"],
  ])("is not shown with %s", async (_, mine, served) => {
    PAGE.build = mine;
    answerWith(statusWith({ page_build: served }));
    await renderAt("", [<VersionNotice key="notice" />, <StatusReader key="status" />]);
    expect(await screen.findByText("status known")).toBeVisible();
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });
});
