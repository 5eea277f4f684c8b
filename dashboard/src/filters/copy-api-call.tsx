import { apiUrl } from "~/api/client";
import { apiPairs } from "~/domain/log-search";
import { useLogSearch } from "~/navigation/search-context";
import css from "~/requests/page.module.css";
import { CopyButton } from "~/ui/copy-button";

/** The call that gives a program what the log shows here. */
export function CopyApiCall() {
  const search = useLogSearch();
  return (
    <span className={css.call}>
      API call
      <CopyButton
        text={window.location.origin + apiUrl("requests", apiPairs(search))}
        label="the API call for this list"
      />
    </span>
  );
}
