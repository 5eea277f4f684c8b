import styles from "./status-panel.module.css";

type FactColumnProps = { title: string; facts: readonly (readonly [name: string, value: string])[] };

/** Names and values under a heading. */
export function FactColumn({ title, facts }: FactColumnProps) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
