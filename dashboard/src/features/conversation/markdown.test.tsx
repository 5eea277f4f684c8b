import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { Markdown } from "./markdown";

const shown = (text: string) => render(<Markdown text={text} />).container;

describe("Markdown from a model that is not trusted", () => {
  it("shows tags as text", () => {
    const page = shown(
      "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> <b onclick=alert(1)>hi</b>\n\n<style>*{display:none}</style>",
    );
    expect(page.querySelector("script, img, b, style, iframe, [onerror], [onclick]")).toBeNull();
    expect(page).toHaveTextContent("<script>alert(1)</script>");
  });

  it("makes links only to the web and to mail, without a referrer", () => {
    const page = shown(
      "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](//evil.example) [f](/api/session) " +
        "[g](https://example.com) [h](mailto:a@b.c) [i](\u0001javascript:alert(1)) <javascript:alert(1)> [j](file:///etc/passwd)",
    );
    const links = [...page.querySelectorAll("a")];
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://example.com", "mailto:a@b.c"]);
    for (const link of links) {
      expect(link).toHaveAttribute("rel", "noreferrer noopener");
      expect(link).toHaveAttribute("target", "_blank");
    }
  });

  it("loads no images", () => {
    const page = shown(
      "![x](https://evil.example/pixel.png) ![y](data:image/png;base64,AAAA) ![z](javascript:alert(1)) [![w](http://a.example/b.png)](https://c.example)",
    );
    expect(page.querySelector("img, picture, video, audio, object, embed, svg, link")).toBeNull();
    expect(screen.getByRole("link", { name: "image at evil.example (not loaded): x" })).toHaveAttribute(
      "href",
      "https://evil.example/pixel.png",
    );
    expect(page).toHaveTextContent("[image not shown: y]");
  });

  it("keeps tables, lists and code", () => {
    const page = shown("| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n```js\nlet x;\n```\n\n# Title");
    expect(screen.getByRole("table")).toHaveTextContent("a b 1 2".replaceAll(" ", ""));
    expect(page.querySelector("pre code")).toHaveTextContent("let x;");
    expect(page.querySelector("input, h1, h2, h3")).toBeNull();
  });
});
