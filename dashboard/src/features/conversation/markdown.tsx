/** Text rendered as Markdown. Loaded on demand. */

import { createContext, type ReactNode, useContext, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { splitByPattern } from "~/domain/search-pattern";
import { HighlightContext } from "~/ui/highlight";
import css from "./markdown.module.css";
import { webHost } from "./parts";

const PLUGINS = [remarkGfm];

/**
 * Markdown from a model. The text is not trusted, so HTML tags are shown as text, images are not loaded, and links lead
 * only to the web or to mail. Matches of the search are marked.
 */
export function Markdown({ text }: { text: string }) {
  const pattern = useContext(HighlightContext);
  const marked = useMemo(
    () => (pattern === undefined ? [] : [() => (tree: HtmlNode) => markMatches(tree, pattern)]),
    [pattern],
  );
  return (
    <div className={css.markdown} dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} rehypePlugins={marked} components={COMPONENTS} urlTransform={safeAddress}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** A node of the HTML tree. */
type HtmlNode = { type: string; value?: string; tagName?: string; properties?: object; children?: HtmlNode[] };

/** Wrap the matches in text nodes in `mark` elements. */
function markMatches(node: HtmlNode, pattern: RegExp): void {
  if (node.children === undefined) return;
  node.children = node.children.flatMap((child) => {
    markMatches(child, pattern);
    if (child.type !== "text") return [child];
    return splitByPattern(child.value ?? "", pattern).map(({ text, isHit }): HtmlNode => {
      const value = { type: "text", value: text };
      return isHit ? { type: "element", tagName: "mark", properties: {}, children: [value] } : value;
    });
  });
}

/** The address, if links to it are allowed. */
function safeAddress(address: string): string | undefined {
  if (webHost(address) !== undefined) return address;
  return URL.canParse(address) && new URL(address).protocol === "mailto:" ? address : undefined;
}

const InLink = createContext(false);

function Link({ address, children }: { address: string | undefined; children: ReactNode }) {
  if (address === undefined) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noreferrer noopener" title={address.slice(0, 500)}>
      <InLink value={true}>{children}</InLink>
    </a>
  );
}

/** The description of an image and a link to the image, shown instead of the image. */
function Picture({ address, alt }: { address: string | undefined; alt: string | undefined }) {
  const isInLink = useContext(InLink);
  const host = address === undefined ? undefined : webHost(address);
  const label = `${host === undefined ? "image not shown" : `image at ${host} (not loaded)`}${alt ? `: ${alt}` : ""}`;
  return host === undefined || isInLink ? <span>[{label}]</span> : <Link address={address}>{label}</Link>;
}

/** Headings start at h4, below the headings of the page. */
const COMPONENTS: Components = {
  a: ({ href, children }) => <Link address={href}>{children}</Link>,
  img: ({ src, alt }) => <Picture address={typeof src === "string" ? src : undefined} alt={alt} />,
  input: ({ checked }) => (
    <span role="img" aria-label={checked ? "done" : "not done"}>
      {checked ? "☑" : "☐"}
    </span>
  ),
  h1: ({ children }) => <h4>{children}</h4>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h5>{children}</h5>,
  h5: ({ children }) => <h6>{children}</h6>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable by keyboard
    <section className={css.table} tabIndex={0} aria-label="Table in the response">
      <table>{children}</table>
    </section>
  ),
};
