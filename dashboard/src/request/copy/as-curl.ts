/** A request as a curl command. Pure. */

import type { Call } from "./call";

export function asCurl(call: Call): string {
  const options = [
    /[[\]{}]/.test(call.url) ? "--globoff" : "",
    call.stream ? "--no-buffer" : "",
    call.method === (call.body === undefined ? "GET" : "POST") ? "" : `-X ${quoted(call.method)}`,
  ];
  const lines = [
    ["curl", ...options.filter(Boolean), quoted(call.url)].join(" "),
    ...(call.key === undefined ? [] : [`-H ${withKey(call.key)}`]),
    ...call.headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ];
  if (call.body !== undefined) {
    lines.push(
      "text" in call.body ? `--data-raw ${quoted(call.body.text)}` : `--data-binary ${quoted(`@${call.body.file}`)}`,
    );
  }
  return lines.join(" \\\n  ");
}

/** For a POSIX shell: nothing in it means anything to the shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function withKey(header: string): string {
  return /^[\w :-]*$/.test(header) ? `"${header}$API_KEY"` : `${quoted(header)}"$API_KEY"`;
}
