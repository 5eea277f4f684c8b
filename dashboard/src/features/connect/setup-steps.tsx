/** Setup steps: the route, its base URL, the clients, tags. */

import { Box, Group, NativeSelect, Stack, Tabs } from "@mantine/core";
import { Fragment, type ReactNode, useState } from "react";
import type { RouteRow } from "~/generated/api-types";
import { CLIENTS, type Client } from "~/generated/clients";
import { CopyButton } from "~/ui/copy-button";
import { exportLines, setupOf } from "./client-setup";
import css from "./connect.module.css";
import type { Connection } from "./connection";

type ClientStepsProps = {
  connection: Connection;
  /** Shown below the export lines. */
  children?: ReactNode;
};

/** All setup steps. */
export function ClientSteps({ connection, children }: ClientStepsProps) {
  const { routes } = connection;
  const [name, setName] = useState("default");
  const route = routes.find((each) => each.name === name) ?? routes[0];
  if (route === undefined) return null;
  return (
    <Stack gap={28}>
      <section>
        {routes.length > 1 && <RouteSelect routes={routes} value={route.name} onChange={setName} />}
        <BaseUrlSection connection={connection} route={route} />
        {children}
      </section>
      <section>
        <h2>Set up a client</h2>
        <ClientTabs connection={connection} route={route} />
      </section>
      <TaggingHelp connection={connection} />
    </Stack>
  );
}

type RouteSelectProps = { routes: readonly RouteRow[]; value: string; onChange: (name: string) => void };

/** The route whose base URL is shown. */
export function RouteSelect({ routes, value, onChange }: RouteSelectProps) {
  return (
    <NativeSelect
      mb={12}
      maw={520}
      label="Route"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={routes.map(({ name, upstream }) => ({ value: name, label: `${name} → ${upstream}` }))}
    />
  );
}

type OnRouteProps = { connection: Connection; route: RouteRow };

/** The base URL of a route, and the lines that set it in the environment. */
export function BaseUrlSection({ connection, route }: OnRouteProps) {
  const { base_url: baseUrl, upstream } = route;
  return (
    <>
      <p className="small muted">Base URL for your client</p>
      <Group component="p" className={css.address} gap={6} wrap="nowrap">
        <code>{baseUrl}</code> <CopyButton text={baseUrl} label="base URL" />
      </Group>
      <p>
        {connection.anyKey !== null ? (
          "The upstream is simulated, without network. Any API key works."
        ) : (
          <>
            Requests are forwarded unchanged to <code>{upstream}</code> and logged.
          </>
        )}{" "}
        Most SDKs and tools read the base URL from the environment:
      </p>
      <CodeBlock code={exportLines(connection, route)} label="lines that set the base URL" />
    </>
  );
}

const GROUPS = [...new Set(CLIENTS.map(({ group }) => group))];

/** The clients by group, and the setup of the selected client. */
export function ClientTabs({ connection, route }: OnRouteProps) {
  return (
    <Tabs defaultValue="python" orientation="vertical" variant="list" className={css.clients ?? ""}>
      <Tabs.List aria-label="Clients" className={css.clientList ?? ""}>
        {GROUPS.map((group) => (
          <Fragment key={group}>
            <span className={css.group} role="presentation">
              {group}
            </span>
            {CLIENTS.filter((client) => client.group === group).map(({ id, name }) => (
              <Tabs.Tab key={id} value={id} className={css.tab ?? ""}>
                {name}
              </Tabs.Tab>
            ))}
          </Fragment>
        ))}
      </Tabs.List>
      {CLIENTS.map((client) => (
        <Tabs.Panel key={client.id} value={client.id} className={css.client ?? ""}>
          <ClientPanel client={client} connection={connection} route={route} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** What to set in a client, how it sends tags, and what else to know. */
export function ClientPanel({ client, connection, route: chosen }: OnRouteProps & { client: Client }) {
  const { route, snippets, tags, notes } = setupOf(client, connection, chosen);
  return (
    <>
      {route === undefined && (
        <p className="notice" data-tone="amber">
          No route of this server fits {client.name}. Start Relaybook with <code>--routes {client.preset}</code>, then
          this setup works:
        </p>
      )}
      {route !== undefined && route !== chosen && (
        <p className="muted">
          {client.name} uses the route <code>{route.name}</code>.
        </p>
      )}
      {snippets.map(({ place, code }) => (
        <Fragment key={place}>
          <Box component="p" className={css.place}>
            {place}
          </Box>
          <CodeBlock code={code} label={`${client.name} setup: ${place}`} />
        </Fragment>
      ))}
      <p>
        <strong>Namespace and properties:</strong> <WithCode text={tags} />
      </p>
      {notes.length > 0 && (
        <ul className={css.notes}>
          {notes.map((note) => (
            <li key={note}>
              <WithCode text={note} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A text in which backticks enclose code. */
function WithCode({ text }: { text: string }) {
  const parts = text.split("`");
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
  return parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}

/** The headers that tag a request, and the base URL with a namespace. */
export function TaggingHelp({ connection }: { connection: Connection }) {
  const { prefix, root, defaultNamespace } = connection;
  return (
    <section>
      <h2>Set namespace and properties</h2>
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
        <dd>Keeps prompt and response out of the log. Everything else is logged.</dd>
        <dt>
          <code>{root}/ns/my-app/v1</code>
        </dt>
        <dd>
          A base URL with the namespace <code>my-app</code>, for clients that cannot send headers. Other base URLs have{" "}
          <code>/ns/my-app</code> at the same place.
        </dd>
      </dl>
      <Box component="p" className="muted" fz={13}>
        These headers are not forwarded to the upstream. The API key is forwarded and never stored. To find a request,
        search for the value of the response header <code>{prefix}-Request-Id</code>.
      </Box>
    </section>
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
