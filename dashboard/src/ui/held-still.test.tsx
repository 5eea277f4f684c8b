import { act, renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { useHeldStill } from "./held-still";

it("what is pressed stays as it is until the button is released, and what listens to that has been told", async () => {
  const { result, rerender } = renderHook(useHeldStill<string>, { initialProps: "before" });
  act(() => result.current.onPointerDown());
  rerender("after");
  expect(result.current.shown).toBe("before");
  let atRelease: string | undefined;
  document.addEventListener("mouseup", () => {
    atRelease = result.current.shown;
  });
  await act(async () => {
    document.dispatchEvent(new Event("pointerup"));
    await Promise.resolve();
    document.dispatchEvent(new Event("mouseup"));
    await new Promise((done) => setTimeout(done));
  });
  expect([atRelease, result.current.shown]).toEqual(["before", "after"]);
});
