import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import css from "./controls.module.css";

/** Light or dark; follows the system until somebody chooses. */
export function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme("light");
  const other = shown === "light" ? "dark" : "light";
  return (
    <button
      type="button"
      className={css.tool}
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
      onClick={() => setColorScheme(other)}
    >
      <span aria-hidden="true">{shown === "light" ? "☾" : "☀"}</span>
    </button>
  );
}
