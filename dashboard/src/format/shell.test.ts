import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { quoted } from "./shell";

describe("quoted", () => {
  it("puts a text in single quotes", () => {
    expect(quoted("a $b\n'c'\\")).toBe(`'a $b\n'\\''c'\\''\\'`);
  });

  it("contains no control character with which a pasted text could end the paste and run a command", () => {
    const text = "'\\ \x03\x1b[201~\t\r\n1\x7f\u009b2é";
    expect(quoted(text)).toBe("$'\\'\\\\ \\003\\033[201~\t\\015\n1\\177\\302\\2332é'");
    expect(execFileSync("bash", ["-c", `printf %s ${quoted(text)}`], { encoding: "utf8" })).toBe(text);
  });
});
