/** Setup steps: base URL, code samples, tools, tags. */

import { Box, Group, Stack, Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyButton } from "~/ui/copy-button";
import { exportLines, samplesOf } from "./code-samples";
import css from "./connect.module.css";
import type { Connection } from "./connection";

type ClientStepsProps = {
  connection: Connection;
  /** Shown below the export lines. */
  children?: ReactNode;
};

/** All setup steps. */
export function ClientSteps({ connection, children }: ClientStepsProps) {
  return (
    <Stack gap={28}>
      <section>
        <BaseUrlSection connection={connection} />
        {children}
      </section>
      <section>
        <h2>In code</h2>
        <SampleTabs connection={connection} />
      </section>
      <TaggingHelp connection={connection} />
    </Stack>
  );
}

/** The base URL, and the two lines that set it in the environment. */
export function BaseUrlSection({ connection }: { connection: Connection }) {
  const lines = exportLines(connection);
  const { baseUrl, upstream } = connection;
  return (
    <>
      <Group component="p" className={css.address} gap={6} wrap="nowrap">
        <code>{baseUrl}</code> <CopyButton text={baseUrl} label="base URL" />
      </Group>
      <p>
        {upstream === null ? (
          "The upstream is simulated. It needs no API key and no network."
        ) : (
          <>
            Requests are forwarded unchanged to <code>{upstream}</code> and logged.
          </>
        )}{" "}
        Most SDKs and tools read the base URL from the environment:
      </p>
      <CodeBlock code={lines.url} label="line that sets the base URL" />
      <CodeBlock code={lines.key} label="line that sets the key" />
    </>
  );
}

/** The headers that tag a request. */
export function TaggingHelp({ connection }: { connection: Connection }) {
  const { prefix, defaultNamespace } = connection;
  return (
    <section>
      <h2>Tag requests</h2>
      <dl className={css.tags}>
        <dt>
          <code>{prefix}-Namespace: my-app</code>
        </dt>
        <dd>
          The namespace of the request, here <code>my-app</code>. Use any text, for example an environment, a channel or
          a user id. Default: <code>{defaultNamespace}</code>.
        </dd>
        <dt>
          <code>{prefix}-Property-Channel: iOS</code>
        </dt>
        <dd>
          A custom property, here <code>channel</code>. You can send several. <code>metadata</code> in the request body
          also sets properties.
        </dd>
        <dt>
          <code>{prefix}-Log: no-bodies</code>
        </dt>
        <dd>Keeps prompt and response out of the log. Model, tokens, cost, timing and tags are logged.</dd>
      </dl>
      <Box component="p" className="muted" fz={13}>
        These headers are not forwarded to the upstream. The API key is forwarded and never stored. To find a request,
        search for the value of the response header <code>{prefix}-Request-Id</code>.
      </Box>
    </section>
  );
}

/** Fields of tools that support OpenAI-compatible providers. */
export function ToolFields({ connection }: { connection: Connection }) {
  const { baseUrl, anyKey, prefix, defaultNamespace } = connection;
  return (
    <>
      <p>Every tool with a setting for an OpenAI-compatible base URL works. Enter:</p>
      <dl className={css.fields}>
        <dt className="muted">Base URL</dt>
        <dd>
          <code>{baseUrl}</code> <CopyButton text={baseUrl} label="base URL for tools" />
        </dd>
        <dt className="muted">API key</dt>
        <dd>{anyKey === null ? "The provider's key" : "Any text, because the upstream is simulated"}</dd>
        <dt className="muted">Model</dt>
        <dd>A model from the provider</dd>
        <dt className="muted">Extra header</dt>
        <dd>
          <code>{prefix}-Namespace: editor</code>, if the tool can send one. Otherwise the namespace is{" "}
          <code>{defaultNamespace}</code>.
        </dd>
      </dl>
      <Box component="p" className="muted" fz={13}>
        A tool that sends requests from its vendor's servers cannot reach an address on this machine.
      </Box>
    </>
  );
}

/** One tab for each kind of client. */
export function SampleTabs({ connection }: { connection: Connection }) {
  const samples = samplesOf(connection);
  return (
    <Tabs defaultValue="python" color="var(--accent)">
      <Tabs.List aria-label="Clients">
        {samples.map(({ kind, title }) => (
          <Tabs.Tab key={kind} value={kind}>
            {title}
          </Tabs.Tab>
        ))}
        <Tabs.Tab value="tools">Editors and tools</Tabs.Tab>
      </Tabs.List>
      {samples.map(({ kind, title, note, code }) => (
        <Tabs.Panel key={kind} value={kind} pt="sm">
          <CodeBlock code={code} label={`${title} sample`} />
          <Box component="p" className="muted" fz={13}>
            {note}
          </Box>
        </Tabs.Panel>
      ))}
      <Tabs.Panel value="tools" pt="sm">
        <ToolFields connection={connection} />
      </Tabs.Panel>
    </Tabs>
  );
}

type CodeBlockProps = {
  code: string;
  /** For the copy button, such as `Python sample`. */
  label: string;
};

/** Code with a copy button. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <Box pos="relative" mb={8}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard */}
      <pre className={css.block} tabIndex={0}>
        <code>{code.trimEnd()}</code>
      </pre>
      <span className={css.copy}>
        <CopyButton text={code} label={label} />
      </span>
    </Box>
  );
}
