import { CopyButton } from "~/ui/copy-button";
import styles from "./samples.module.css";

type CodeBlockProps = {
  code: string;
  /** What it is, for the copy button: `Python sample`. */
  label: string;
};

/** Code as it is typed, with a button that copies it. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: where lines are too long for the screen, the keyboard scrolls */}
      <pre tabIndex={0}>
        <code>{code.trimEnd()}</code>
      </pre>
      <span className={styles.copy}>
        <CopyButton text={code} label={label} />
      </span>
    </div>
  );
}
