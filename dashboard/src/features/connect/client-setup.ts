/** The setup of a client for the routes of this server. Pure. */

import { shellWord } from "~/format/shell";
import type { RouteRow } from "~/generated/api-types";
import { type Client, PRESETS, type Snippet } from "~/generated/clients";
import type { Connection } from "./connection";

const DEFAULT_VARIABLE = PRESETS.openai.variable;
/** Environment variables with the API key, by the variable with the base URL. */
const KEYS: Readonly<Record<string, string>> = {
  OPENAI_BASE_URL: "OPENAI_API_KEY",
  AZURE_OPENAI_ENDPOINT: "AZURE_OPENAI_API_KEY",
  ANTHROPIC_BASE_URL: "ANTHROPIC_API_KEY",
  GOOGLE_GEMINI_BASE_URL: "GEMINI_API_KEY",
  CO_API_URL: "CO_API_KEY",
};

/** The lines that set base URL and key in the environment, for clients of a route. */
export function exportLines({ anyKey }: Connection, { base_url, variable }: RouteRow): string {
  const name = variable ?? DEFAULT_VARIABLE;
  const key = KEYS[name];
  const lines = [`export ${name}=${shellWord(base_url)}`];
  if (key !== undefined) lines.push(`export ${key}=${anyKey ?? "your-provider-key"}`);
  return `${lines.join("\n")}\n`;
}

export type ClientSetup = {
  /** The route that the client uses. `undefined` if no route serves the client. */
  route: RouteRow | undefined;
  snippets: readonly Snippet[];
  tags: string;
  notes: readonly string[];
};

/**
 * The setup of a client. The client uses the chosen route, or the first other route that serves it. If there is no such
 * route, the setup is that for the route of the preset, as `--routes` adds it.
 */
export function setupOf(client: Client, connection: Connection, chosen: RouteRow): ClientSetup {
  const { root, prefix, anyKey, routes } = connection;
  const route = [chosen, ...routes].find((each) => serves(each, client, connection));
  const url = urlOf(client, route, root);
  const values: Record<string, string | undefined> = {
    url,
    namespace_url: `${root}/ns/my-app${url.slice(root.length)}`,
    root,
    prefix,
    key: anyKey ?? "your-provider-key",
    any_key: anyKey ?? undefined,
  };
  const filled = (text: string) => fill(text, values, anyKey);
  const snippets = client.setup.map(({ place, language, code }) => {
    const quoted = language === "sh" ? code.replace(SHELL_URL, (word) => shellWord(filled(word))) : code;
    return { place, language, code: filled(quoted) };
  });
  return { route, snippets, tags: filled(client.tags), notes: client.notes.map(filled) };
}

/** The URL of a client. `undefined` stands for the route of its preset, as `--routes` adds it. */
function urlOf({ preset }: Client, route: RouteRow | undefined, root: string): string {
  if (route === undefined) return root + PRESETS[preset].path;
  // Clients of other APIs append the version to the base URL.
  return isDefault(route) && preset !== "openai" ? root : route.base_url;
}

/** Whether clients of a preset can use a route: it has this preset, or the upstream is known to have the same API. */
function serves(route: RouteRow, { preset }: Client, { anyKey }: Connection): boolean {
  const { variable } = PRESETS[preset];
  if (!isDefault(route)) return (route.variable ?? DEFAULT_VARIABLE) === variable;
  if (anyKey !== null) return preset === "openai" || preset === "anthropic";
  const known = Object.values(PRESETS).find((each) => route.upstream.startsWith(each.upstream));
  return (known?.variable ?? DEFAULT_VARIABLE) === variable;
}

function isDefault({ name }: RouteRow): boolean {
  return name === "default";
}

const PLACEHOLDER = /\{\{(\$?\w+)\}\}/g;
/** A base URL in a shell command, with a path after it. */
const SHELL_URL = /\{\{(?:url|namespace_url|root)\}\}[\w./-]*/g;

/** Replace the placeholders of a text. Lines with a placeholder that has no value are left out. */
function fill(text: string, values: Readonly<Record<string, string | undefined>>, anyKey: string | null): string {
  const lookUp = (name: string) => (name.startsWith("$") ? (anyKey ?? name) : values[name]);
  return text
    .split("\n")
    .filter((line) => [...line.matchAll(PLACEHOLDER)].every(([, name = ""]) => lookUp(name) !== undefined))
    .join("\n")
    .replace(PLACEHOLDER, (_, name: string) => lookUp(name) ?? "");
}
