/** Messages shown in a list instead of rows, or below them. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { statusQuery } from "~/api/status";
import { ApiError } from "~/domain/api-error";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import { useListNavigate } from "~/navigation/links";
import {
  ALL_NAMESPACES,
  ALL_PROPERTIES,
  type ListSearch,
  type NamespaceList,
  type PropertyList,
} from "~/navigation/list-search";
import { StillLogged } from "~/ui/messages";
import { kindOf } from "./namespaces-page";
import css from "./namespaces-page.module.css";

type ListErrorProps = {
  error: Error;
  /** The list to show where the URL asks for what the API refuses. */
  whole: ListSearch;
  onRetry: () => void;
};

/** A list could not be read: what happened, that nothing is lost by it, and what to do. */
export function ListError({ error, whole, onRetry }: ListErrorProps) {
  const go = useListNavigate();
  const isAskedWrong = error instanceof ApiError && error.status === 400;
  return (
    <div className={css.message} role="alert">
      <p>
        {isAskedWrong ? "This address cannot be read: " : "The list could not be read: "}
        {error.message}
      </p>
      {!isAskedWrong && <StillLogged error={error} />}
      <Button variant="default" size="compact-sm" onClick={isAskedWrong ? () => go(whole) : onRetry}>
        {isAskedWrong ? "show the whole list" : "again"}
      </Button>
    </div>
  );
}

type ListFootProps = {
  shown: number;
  /** What they are, in the singular. */
  one: string;
  hasMore: boolean;
  isReading: boolean;
  onMore: () => void;
};

/** How many rows there are, or that there are more, with the way to them. */
export function ListFoot({ shown, one, hasMore, isReading, onMore }: ListFootProps) {
  return (
    <div className={css.foot}>
      <span role="status">{hasMore ? `The first ${count(shown)}.` : `${plural(shown, one)}.`}</span>
      {hasMore && (
        <Button variant="default" size="compact-sm" aria-disabled={isReading} onClick={isReading ? undefined : onMore}>
          {isReading ? "reading…" : "more"}
        </Button>
      )}
    </div>
  );
}

/** Why there is no row: nothing was ever logged, or nothing matches; then what would. */
export function NoNamespace({ list }: { list: NamespaceList }) {
  const go = useListNavigate();
  const whole = { ...ALL_NAMESPACES, sort: list.sort };
  if (list.prefix !== "") {
    return (
      <div className={css.message}>
        <p>
          No {kindOf(list.pinned)} begins with{" "}
          <strong>
            <bdi>{list.prefix}</bdi>
          </strong>
          . Upper and lower case differ.
        </p>
        <Button variant="default" size="compact-sm" onClick={() => go({ ...list, prefix: "" })}>
          clear
        </Button>
        {list.pinned !== undefined && (
          <Button variant="default" size="compact-sm" onClick={() => go({ ...list, pinned: undefined })}>
            look at all namespaces
          </Button>
        )}
      </div>
    );
  }
  if (list.pinned !== undefined) {
    return (
      <div className={css.message}>
        <p>
          {list.pinned === "true"
            ? "No label yet. The star beside a namespace makes it one, for everybody who reads the log."
            : "No thread: all namespaces are labels, if there are any."}
        </p>
        <Button variant="default" size="compact-sm" onClick={() => go(whole)}>
          look at all namespaces
        </Button>
      </div>
    );
  }
  return (
    <div className={css.message}>
      <p>No namespace yet: the first request brings one, and it appears here by itself.</p>
      <Link to="/connect" search={EMPTY_SEARCH} className={css.link}>
        Connect a client
      </Link>
    </div>
  );
}

/** Why there is no property: none begins like that, or no request ever had one; then how to send one. */
export function NoProperty({ prefix }: { prefix: string }) {
  const go = useListNavigate();
  const told = useQuery(statusQuery()).data?.settings.header_prefix;
  const headers = Array.isArray(told) ? String(told[0]) : "Service";
  if (prefix === "") {
    return (
      <div className={css.message}>
        <p>
          No property yet. A request brings them in headers, such as <code>{headers}-Property-Channel: iOS</code>, or in
          the <code>metadata</code> of its body.
        </p>
      </div>
    );
  }
  return (
    <div className={css.message}>
      <p>
        No property begins with{" "}
        <strong>
          <bdi>{prefix}</bdi>
        </strong>
        . Their names are in lower case, with hyphens.
      </p>
      <Button variant="default" size="compact-sm" onClick={() => go(ALL_PROPERTIES)}>
        clear
      </Button>
    </div>
  );
}

/** Why a property shows no value: none begins like that, or no request has the property. */
export function NoValue({ list, property }: { list: PropertyList; property: string }) {
  const go = useListNavigate();
  const isWhole = list.prefix === "";
  return (
    <div className={css.message}>
      <p>
        {isWhole ? "No request has the property " : "No value of "}
        <strong>
          <bdi>{property}</bdi>
        </strong>
        {!isWhole && (
          <>
            {" begins with "}
            <strong>
              <bdi>{list.prefix}</bdi>
            </strong>
          </>
        )}
        .{!isWhole && " Upper and lower case differ."}
      </p>
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => go(isWhole ? ALL_PROPERTIES : { ...list, prefix: "" })}
      >
        {isWhole ? "all properties" : "clear"}
      </Button>
    </div>
  );
}
