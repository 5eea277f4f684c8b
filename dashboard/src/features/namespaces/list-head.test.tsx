import { act, renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useDebouncedParam } from "./list-head";

function box(inUrl: string) {
  const tell = vi.fn();
  const hook = renderHook(({ inUrl }) => useDebouncedParam(inUrl, tell), { initialProps: { inUrl } });
  return { tell, now: () => hook.result.current, url: (inUrl: string) => hook.rerender({ inUrl }) };
}

it("letters typed while the URL is updated are not lost", () => {
  const { tell, now, url } = box("");
  act(() => now().setText("st"));
  act(() => now().flush());
  expect(tell).toHaveBeenCalledWith("st");
  act(() => now().setText("sta"));
  url("st");
  expect(now().text).toBe("sta");
});

it("Back restores the previous text", () => {
  const { now, url } = box("");
  act(() => now().setText("st"));
  act(() => now().flush());
  url("st");
  url("");
  expect(now().text).toBe("");
  url("st");
  expect(now().text).toBe("st");
});

it("writes the same text only once", () => {
  const { tell, now } = box("");
  act(() => now().setText("st"));
  act(() => now().flush());
  act(() => now().flush());
  expect(tell).toHaveBeenCalledTimes(1);
});
