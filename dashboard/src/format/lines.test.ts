import { describe, expect, it } from "vitest";
import { foldAt, linesOf, sizeOf } from "./lines";

const LINES = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");

describe("a text", () => {
  it("has more lines on the screen if its lines are long", () => {
    expect(linesOf("", 10)).toBe(1);
    expect(linesOf(LINES, 100)).toBe(50);
    expect(linesOf(LINES, 8)).toBe(8);
    expect(linesOf("x".repeat(200), 10)).toBe(3);
  });

  it("is folded after a number of lines, but not to hide fewer than four", () => {
    expect(LINES.slice(0, foldAt(LINES, 20))).toMatch(/line 19$/);
    expect(foldAt(LINES, 47)).toBeUndefined();
    expect(foldAt(LINES, 46)).toBeDefined();
    expect(foldAt("x".repeat(10_000), 5)).toBe(400);
    expect(foldAt(`${"x".repeat(200)}\n${LINES}`, 3)).toBe(200);
    expect(foldAt("\n".repeat(50), 5)).toBe(4);
  });

  it("is folded without a number of lines only if it is very long", () => {
    expect(foldAt("x".repeat(100_000), undefined)).toBeUndefined();
    expect(foldAt("x".repeat(100_001), undefined)).toBe(100_000);
  });

  it("has a size in lines, or in characters if its lines are long", () => {
    expect(sizeOf("word\n".repeat(5_299))).toBe("5,300 lines");
    expect(sizeOf("x".repeat(2_000))).toBe("2,000 characters");
  });
});
