/** Text rendered as Markdown. Loaded on demand. */

import { createContext, type ReactNode, useContext } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { webHost } from "./content-parts";
import css from "./markdown.module.css";

const PLUGINS = [remarkGfm];

/**
 * Markdown by a model, which is hostile: no HTML (tags are shown as the text they are), no picture is loaded, and a
 * link leads to the web or to a mail program, or is plain text.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={css.markdown} dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={safeAddress}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** The address where it may be a link; else nothing. */
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

/** Where a picture would be: what it shows, and the way to it. */
function Picture({ address, alt }: { address: string | undefined; alt: string | undefined }) {
  const isInLink = useContext(InLink);
  const host = address === undefined ? undefined : webHost(address);
  const words = `${host === undefined ? "image not shown" : `image at ${host} (not loaded)`}${alt ? `: ${alt}` : ""}`;
  return host === undefined || isInLink ? <span>[{words}]</span> : <Link address={address}>{words}</Link>;
}

/** Headings begin below those of the drawer. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={css.table} tabIndex={0} aria-label="Table in the answer">
      <table>{children}</table>
    </section>
  ),
};
