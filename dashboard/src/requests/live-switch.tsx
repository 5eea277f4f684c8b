import { useLocation } from "@tanstack/react-router";
import { useGo } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./live-switch.module.css";

/** Whether new requests come by themselves; the URL says so when they do not. */
export function LiveSwitch() {
  const search = useLogSearch();
  const go = useGo();
  const anchor = useLocation({ select: ({ state }) => state.anchor });
  const isLive = search.live !== false;
  const { filter, range } = search;
  return (
    <button
      type="button"
      className={css.switch}
      aria-pressed={isLive}
      title={isLive ? "New requests come by themselves. Pause: l" : "Paused. Go on: l"}
      onClick={() => go({ search: isLive ? { filter, range, live: false } : { filter, range }, anchor, replace: true })}
    >
      <span className={isLive ? css.on : css.off} aria-hidden="true">
        {isLive ? "●" : "❚❚"}
      </span>{" "}
      {isLive ? "live" : "paused"} <kbd>l</kbd>
    </button>
  );
}
