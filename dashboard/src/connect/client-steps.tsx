import type { ReactNode } from "react";
import { AddressLines } from "./address-lines";
import styles from "./connect.module.css";
import type { Connection } from "./connection";
import { SampleTabs } from "./sample-tabs";
import { TagWords } from "./tag-words";

type ClientStepsProps = {
  connection: Connection;
  /** What stands below the lines that are enough for most programs. */
  children?: ReactNode;
};

/** Everything there is to tell about pointing a client here. */
export function ClientSteps({ connection, children }: ClientStepsProps) {
  return (
    <div className={styles.steps}>
      <section>
        <AddressLines connection={connection} />
        {children}
      </section>
      <section>
        <h2>In code</h2>
        <SampleTabs connection={connection} />
      </section>
      <TagWords connection={connection} />
    </div>
  );
}
