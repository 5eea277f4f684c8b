import { useQuery } from "@tanstack/react-query";
import { PAGE } from "~/api/page-config";
import { statusQuery } from "~/api/status";
import css from "./bars.module.css";

type Props = { reload?: () => void };

/** Tells an open tab that the server has another build of the page by now. */
export function VersionNotice({ reload = () => window.location.reload() }: Props) {
  const { data: status } = useQuery(statusQuery());
  const served = status?.page_build ?? "";
  const isOld = served !== "" && PAGE.build !== "" && served !== PAGE.build;
  return (
    <div role="status">
      {isOld && (
        <div className={css.bar}>
          <p>Relaybook was updated. Reload to use the new page.</p>
          <button type="button" className={css.barAction} onClick={reload}>
            Reload
          </button>
        </div>
      )}
    </div>
  );
}
