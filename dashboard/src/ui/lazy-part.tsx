/** Parts of the page whose code is loaded when they are first shown. */

import { Button } from "@mantine/core";
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import css from "./controls.module.css";

/** A component whose code is loaded when it is first shown. If loading fails, `Fallback` is shown. */
export function lazyPart<Props>(
  load: () => Promise<ComponentType<Props>>,
  Fallback: ComponentType<Props> = NotLoaded,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() =>
    load().then(
      (part) => ({ default: part }),
      () => ({ default: Fallback }),
    ),
  );
}

/**
 * Shown instead of a part whose code could not be loaded, because an old tab requests a file that the server no longer
 * has.
 */
function NotLoaded() {
  return (
    <p className={`notice ${css.notLoaded}`} data-tone="bad" role="alert">
      A part of the page could not be loaded. Relaybook has been updated or stopped since this tab was opened.{" "}
      <Button variant="default" size="compact-sm" onClick={() => window.location.reload()}>
        Reload the page
      </Button>
    </p>
  );
}
