import { plural } from "~/format/number";
import css from "./page.module.css";

/** Requests that have ended since: told, and shown on demand. */
export function News({ waiting, onShow }: { waiting: number; onShow: () => void }) {
  return (
    <div className={css.news} role="status">
      {waiting > 0 && (
        <button type="button" onClick={onShow}>
          <span aria-hidden="true">▼ </span>
          {plural(waiting, "newer request")}
        </button>
      )}
    </div>
  );
}
