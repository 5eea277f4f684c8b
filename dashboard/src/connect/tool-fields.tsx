import { CopyButton } from "~/ui/copy-button";
import type { Connection } from "./connection";
import styles from "./samples.module.css";

/** What to fill in where a tool asks for an OpenAI-compatible provider. */
export function ToolFields({ connection }: { connection: Connection }) {
  const { baseUrl, anyKey, prefix, defaultNamespace } = connection;
  return (
    <>
      <p>Anything that can be given an OpenAI-compatible base URL works. Fill in:</p>
      <dl className={styles.fields}>
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
      <p className={styles.note}>
        A tool that sends its requests from servers of its own cannot reach an address of this machine.
      </p>
    </>
  );
}
