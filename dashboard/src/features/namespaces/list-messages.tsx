/** Messages shown in a list instead of rows, or below them. */

import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { statusQuery } from "~/api/status";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import { useListNavigate } from "~/navigation/links";
import { ALL_PROPERTIES, type ListSearch, type NamespaceList, type PropertyList } from "~/navigation/list-search";
import { Message, ReadError } from "~/ui/messages";
import pageCss from "~/ui/page.module.css";

type ListErrorProps = {
  error: Error;
  /** The list to show if the URL is invalid. */
  fallback: ListSearch;
  onRetry: () => void;
};

/** Shown if the list could not be read or its address is invalid. */
export function ListError({ error, fallback, onRetry }: ListErrorProps) {
  const go = useListNavigate();
  return (
    <ReadError
      error={error}
      subject="The list"
      onRetry={onRetry}
      invalid="Invalid address"
      action={{ label: "Show the whole list", onClick: () => go(fallback) }}
    />
  );
}

type ListFootProps = {
  shown: number;
  /** Whether the list is searched. Otherwise its head has the number of namespaces, which is read more often. */
  isSearch: boolean;
  hasMore: boolean;
  isReading: boolean;
  onMore: () => void;
};

/** The number of matches of a search, and a button to load more. */
export function ListFoot({ shown, isSearch, hasMore, isReading, onMore }: ListFootProps) {
  return (
    <Group className="muted" gap={12} wrap="nowrap" mih={44} px={12}>
      <span role="status">{hasMore ? `The first ${count(shown)}.` : isSearch && `${plural(shown, "namespace")}.`}</span>
      {hasMore && (
        <Button variant="default" size="compact-sm" aria-disabled={isReading} onClick={isReading ? undefined : onMore}>
          {isReading ? "Loading…" : "Load more"}
        </Button>
      )}
    </Group>
  );
}

/** Shown if there are no namespaces, or none that match. */
export function NoNamespace({ list }: { list: NamespaceList }) {
  const go = useListNavigate();
  const all = { label: "Show all namespaces", onClick: () => go({ ...list, pinned: undefined }) };
  if (list.prefix !== "") {
    const clear = { label: "Clear", onClick: () => go({ ...list, prefix: "" }) };
    return (
      <Message actions={list.pinned === undefined ? [clear] : [clear, all]}>
        <p>
          No {list.pinned === "true" ? "pinned namespaces" : "namespaces"} contain <Name>{list.prefix}</Name>.
        </p>
      </Message>
    );
  }
  if (list.pinned !== undefined) {
    return (
      <Message actions={[all]}>
        <p>
          {list.pinned === "true"
            ? "No pinned namespaces. The star next to a namespace pins it for everyone."
            : "All namespaces are pinned."}
        </p>
      </Message>
    );
  }
  return (
    <Message>
      <p>No namespaces yet. A namespace appears with its first request.</p>
      <Link to="/connect" search={EMPTY_SEARCH} className={pageCss.link}>
        Connect a client
      </Link>
    </Message>
  );
}

/** Shown if there are no properties, or none that match. */
export function NoProperty({ prefix }: { prefix: string }) {
  const go = useListNavigate();
  const prefixes = useQuery({ ...statusQuery(), select: ({ settings }) => settings.header_prefix }).data;
  const header = Array.isArray(prefixes) ? String(prefixes[0]) : "Service";
  if (prefix === "") {
    return (
      <Message>
        <p>
          No properties yet. Send them in headers such as <code>{header}-Property-Channel: iOS</code>, or in{" "}
          <code>metadata</code> of the request body.
        </p>
      </Message>
    );
  }
  return (
    <Message actions={[{ label: "Clear", onClick: () => go(ALL_PROPERTIES) }]}>
      <p>
        No properties start with <Name>{prefix}</Name>. Property names are in lower case, with hyphens instead of
        underscores.
      </p>
    </Message>
  );
}

/** Shown if a property has no values, or none that match. */
export function NoValue({ list, property }: { list: PropertyList; property: string }) {
  const go = useListNavigate();
  if (list.prefix === "") {
    return (
      <Message actions={[{ label: "All properties", onClick: () => go(ALL_PROPERTIES) }]}>
        <p>
          No requests have the property <Name>{property}</Name>.
        </p>
      </Message>
    );
  }
  return (
    <Message actions={[{ label: "Clear", onClick: () => go({ ...list, prefix: "" }) }]}>
      <p>
        No values of <Name>{property}</Name> start with <Name>{list.prefix}</Name>. The search is case-sensitive.
      </p>
    </Message>
  );
}

function Name({ children }: { children: ReactNode }) {
  return (
    <strong>
      <bdi>{children}</bdi>
    </strong>
  );
}
