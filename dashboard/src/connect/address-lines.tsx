import { CopyButton } from "~/ui/copy-button";
import { CodeBlock } from "./code-block";
import styles from "./connect.module.css";
import type { Connection } from "./connection";
import { exportLines } from "./samples";

/** The base URL, and the two lines that set it for programs that read it from the environment. */
export function AddressLines({ connection }: { connection: Connection }) {
  const lines = exportLines(connection);
  const { baseUrl, provider } = connection;
  return (
    <>
      <p className={styles.address}>
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
