/** The section with parameters. */

import { Box } from "@mantine/core";
import { type JsonObject, pretty } from "~/domain/json";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import { LongText } from "~/ui/long-text";

/** The parameters that are set. Well-known parameters are on one line, and all parameters are shown on demand. */
export function Parameters({ request }: { request: RequestDetail }) {
  const { parameters } = request;
  if (parameters === null) {
    return <p className="note">Unknown, because the request body is not stored or cannot be read.</p>;
  }
  const all = Object.keys(parameters).length;
  if (all === 0) return <p className="note">None</p>;
  const text = pretty(parameters);
  return (
    <>
      <FactList facts={wellKnown(parameters)} />
      <Disclosure summary={all === 1 ? "All parameters" : `All ${all} parameters`}>
        <Box pos="relative">
          <Box pos="absolute" top={0} right={0}>
            <CopyButton text={text} label="parameters" />
          </Box>
          <LongText text={text} className="mono" />
        </Box>
      </Disclosure>
    </>
  );
}

const WELL_KNOWN = `stream temperature top_p max_tokens max_completion_tokens max_output_tokens n frequency_penalty
  presence_penalty tools tool_choice response_format reasoning reasoning_effort thinking seed stop service_tier
  stream_options dimensions encoding_format`.split(/\s+/);
const MAX_LENGTH = 40;

/** The well-known parameters that are set, with long values shortened. */
export function wellKnown(parameters: JsonObject): Fact[] {
  return WELL_KNOWN.flatMap((name) => {
    const value = parameters[name];
    if (value === undefined || value === null) return [];
    if (name === "tools" && Array.isArray(value)) return [{ name, value: String(value.length) }];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length <= MAX_LENGTH
      ? [{ name, value: text }]
      : [{ name, value: `${text.slice(0, MAX_LENGTH - 1)}…`, title: text.slice(0, 1_000) }];
  });
}
