import type { Connection } from "./connection";
import styles from "./samples.module.css";

/** What the headers do that tag a request. */
export function TagWords({ connection }: { connection: Connection }) {
  const { prefix, defaultNamespace } = connection;
  return (
    <section>
      <h2>Tag requests</h2>
      <dl className={styles.tags}>
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
      <p className={styles.note}>
        These headers do not reach the provider. The key does, and is never stored. The answer's{" "}
        <code>{prefix}-Request-Id</code> finds the request here.
      </p>
    </section>
  );
}
