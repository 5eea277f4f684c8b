import { Tabs } from "@mantine/core";
import { CodeBlock } from "./code-block";
import type { Connection } from "./connection";
import { samplesOf } from "./samples";
import styles from "./samples.module.css";
import { ToolFields } from "./tool-fields";

/** One tab for each kind of client. */
export function SampleTabs({ connection }: { connection: Connection }) {
  const samples = samplesOf(connection);
  return (
    <Tabs
      defaultValue="python"
      classNames={{ list: styles.tabs ?? "", tab: styles.tab ?? "", panel: styles.tabPanel ?? "" }}
    >
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
          <p className={styles.note}>{note}</p>
        </Tabs.Panel>
      ))}
      <Tabs.Panel value="tools">
        <ToolFields connection={connection} />
      </Tabs.Panel>
    </Tabs>
  );
}
