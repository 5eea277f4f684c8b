/** Setup steps: base URL, code samples, tools, tags. */

import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyButton } from "~/ui/copy-button";
import { exportLines, samplesOf } from "./code-samples";
import css from "./connect.module.css";
import type { Connection } from "./connection";

type ClientStepsProps = {
  connection: Connection;
  /** What stands below the lines that are enough for most programs. */
  children?: ReactNode;
};

/** Everything there is to tell about pointing a client here. */
export function ClientSteps({ connection, children }: ClientStepsProps) {
  return (
    <div className={css.steps}>
      <section>
        <BaseUrlSection connection={connection} />
        {children}
      </section>
      <section>
        <h2>In code</h2>
        <SampleTabs connection={connection} />
      </section>
      <TaggingHelp connection={connection} />
    </div>
  );
}

/** The base URL, and the two lines that set it for programs that read it from the environment. */
export function BaseUrlSection({ connection }: { connection: Connection }) {
  const lines = exportLines(connection);
  const { baseUrl, provider } = connection;
  return (
    <>
      <p className={css.address}>
        <code>{baseUrl}</code> <CopyButton text={baseUrl} label="base URL" />
      </p>
      <p>
        {provider === null ? (
          "The provider behind it is simulated: it answers without a key and without a network."
        ) : (
          <>
            Whatever arrives there goes on to <code>{provider}</code>, unchanged, and is logged.
          </>
        )}{" "}
        Most SDKs and tools read the base URL from the environment, so no code has to change:
      </p>
      <CodeBlock code={lines.url} label="line that sets the base URL" />
      <CodeBlock code={lines.key} label="line that sets the key" />
    </>
  );
}

/** What the headers do that tag a request. */
export function TaggingHelp({ connection }: { connection: Connection }) {
  const { prefix, defaultNamespace } = connection;
  return (
    <section>
      <h2>Tag requests</h2>
      <dl className={css.tags}>
        <dt>
          <code>{prefix}-Namespace: ios</code>
        </dt>
        <dd>
          Logs the request under the namespace <code>ios</code>. Any text: an environment, a channel, a user's id, whose
          requests then read as a thread. Without it: <code>{defaultNamespace}</code>.
        </dd>
        <dt>
          <code>{prefix}-Property-Channel: iOS</code>
        </dt>
        <dd>
          A property of your own, here <code>channel</code>; as many as you like. The body's <code>metadata</code>{" "}
          counts as well.
        </dd>
        <dt>
          <code>{prefix}-Log: no-bodies</code>
        </dt>
        <dd>Keeps prompt and answer out of the log. Model, tokens, cost, timing and tags stay.</dd>
      </dl>
      <p className={css.note}>
        These headers do not reach the provider. The key does, and is never stored. The answer's{" "}
        <code>{prefix}-Request-Id</code> finds the request here.
      </p>
    </section>
  );
}

/** What to fill in where a tool asks for an OpenAI-compatible provider. */
export function ToolFields({ connection }: { connection: Connection }) {
  const { baseUrl, anyKey, prefix, defaultNamespace } = connection;
  return (
    <>
      <p>Anything that can be given an OpenAI-compatible base URL works. Fill in:</p>
      <dl className={css.fields}>
        <dt>Base URL</dt>
        <dd>
          <code>{baseUrl}</code> <CopyButton text={baseUrl} label="base URL for tools" />
        </dd>
        <dt>API key</dt>
        <dd>{anyKey === null ? "the provider's, as before" : "any text: the provider is simulated"}</dd>
        <dt>Model</dt>
        <dd>as before</dd>
        <dt>Extra header</dt>
        <dd>
          <code>{prefix}-Namespace: editor</code>, if the tool has room for one. Else its requests are logged under{" "}
          <code>{defaultNamespace}</code>.
        </dd>
      </dl>
      <p className={css.note}>
        A tool that sends its requests from servers of its own cannot reach an address of this machine.
      </p>
    </>
  );
}

/** One tab for each kind of client. */
export function SampleTabs({ connection }: { connection: Connection }) {
  const samples = samplesOf(connection);
  return (
    <Tabs defaultValue="python" classNames={{ list: css.tabs ?? "", tab: css.tab ?? "", panel: css.tabPanel ?? "" }}>
      <Tabs.List aria-label="Clients">
        {samples.map(({ kind, title }) => (
          <Tabs.Tab key={kind} value={kind}>
            {title}
          </Tabs.Tab>
        ))}
        <Tabs.Tab value="tools">Editors and tools</Tabs.Tab>
      </Tabs.List>
      {samples.map(({ kind, title, note, code }) => (
        <Tabs.Panel key={kind} value={kind}>
          <CodeBlock code={code} label={`${title} sample`} />
          <p className={css.note}>{note}</p>
        </Tabs.Panel>
      ))}
      <Tabs.Panel value="tools">
        <ToolFields connection={connection} />
      </Tabs.Panel>
    </Tabs>
  );
}

type CodeBlockProps = {
  code: string;
  /** What it is, for the copy button: `Python sample`. */
  label: string;
};

/** Code as it is typed, with a button that copies it. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <div className={css.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: where lines are too long for the screen, the keyboard scrolls */}
      <pre tabIndex={0}>
        <code>{code.trimEnd()}</code>
      </pre>
      <span className={css.copy}>
        <CopyButton text={code} label={label} />
      </span>
    </div>
  );
}
