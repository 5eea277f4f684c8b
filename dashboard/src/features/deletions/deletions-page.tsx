/** The list of deletions, and the receipt of one deletion. */

import { Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { deletionsQuery, receiptQuery, receiptUrl } from "~/api/deletions";
import type { Params } from "~/api/matches";
import { searchOf, toApiParams } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import type { DeletionReceipt, DeletionRow } from "~/generated/api-types";
import { AppLink, logHref, receiptHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { Message, ReadError } from "~/ui/messages";
import pageCss from "~/ui/page.module.css";
import { Timestamp, useToday } from "~/ui/timestamp";
import { describeDeleted, describeStored } from "./deleted-text";
import css from "./deletions-page.module.css";

/** `/deletions`. */
export function DeletionsPage() {
  const { data, error, refetch } = useQuery(deletionsQuery());
  return (
    <Frame title="Deletions">
      {data === undefined ? (
        <Unread error={error} subject="The deletions" onRetry={() => void refetch()} />
      ) : data.data.length === 0 ? (
        <Message>
          <p>
            No requests were deleted. To delete requests, filter the log, then select <em>Delete these requests…</em> in
            the menu ⋯.
          </p>
        </Message>
      ) : (
        <div className={css.scroller}>
          <DeletionTable deletions={data.data} />
        </div>
      )}
    </Frame>
  );
}

function DeletionTable({ deletions }: { deletions: readonly DeletionRow[] }) {
  const now = useToday();
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Requested</Table.Th>
          <Table.Th>By</Table.Th>
          <Table.Th ta="end">Requests</Table.Th>
          <Table.Th>Filter</Table.Th>
          <Table.Th>Removed</Table.Th>
          <Table.Th>Erased from disk</Table.Th>
          <Table.Th>Receipt</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {deletions.map((deletion) => (
          <Table.Tr key={deletion.id}>
            <Table.Td className="nowrap">
              <Timestamp at={deletion.requested_at} />
            </Table.Td>
            <Table.Td>
              <bdi>{deletion.requested_by}</bdi>
            </Table.Td>
            <Table.Td ta="end">{count(deletion.state === "removing" ? deletion.requests : deletion.removed)}</Table.Td>
            <Table.Td className="wrap-anywhere">
              <bdi>{describeStored(deletion, now)}</bdi>
            </Table.Td>
            <Table.Td className="nowrap">
              <When at={deletion.removed_at} pending="removing…" />
            </Table.Td>
            <Table.Td className="nowrap">
              <When at={deletion.done_at} pending={deletion.removed_at === null ? "–" : "erasing…"} />
            </Table.Td>
            <Table.Td>
              <AppLink className={pageCss.textLink} href={receiptHref(deletion.id, [])}>
                Receipt
              </AppLink>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** `/deletions/<id>`. The filter in the URL is checked against the deletion. */
export function ReceiptPage() {
  const id = useLocation({ select: ({ pathname }) => decodeURIComponent(pathname.split("/deletions/")[1] ?? "") });
  const params = toApiParams(useLogSearch());
  const { data, error, refetch } = useQuery(receiptQuery(id, params));
  return (
    <Frame title="Receipt for a deletion">
      {data === undefined ? (
        <Unread error={error} subject="The receipt" onRetry={() => void refetch()} />
      ) : (
        <Receipt receipt={data} params={params} />
      )}
    </Frame>
  );
}

function Receipt({ receipt, params }: { receipt: DeletionReceipt; params: Params }) {
  const { id, requests, removed, requested_at, requested_by, removed_at, done_at, check, not_erased } = receipt;
  const isVerified = check?.is_filter === true;
  const now = useToday();
  return (
    <article className={css.receipt}>
      <p className={css.first}>
        {plural(removed_at === null ? requests : removed, "request")}
        {isVerified && describeDeleted(params)}{" "}
        {removed_at === null
          ? "are being deleted."
          : done_at === null
            ? "deleted, being erased."
            : "deleted and erased."}
      </p>
      <dl className={css.facts}>
        <Fact name="Requested">
          <Timestamp at={requested_at} /> by <bdi>{requested_by}</bdi>
        </Fact>
        <Fact name="Removed from the log">
          <When at={removed_at} pending="not yet" />
        </Fact>
        <Fact name="Erased from disk">
          <When at={done_at} pending="not yet" />
        </Fact>
        <Fact name="Filter">
          <bdi>{describeStored(receipt, now) || "–"}</bdi>
        </Fact>
        <Fact name="Id">
          <bdi className={css.id}>{id}</bdi>
        </Fact>
      </dl>
      <h2>Today</h2>
      <Today receipt={receipt} params={params} />
      <h2>What this deletion does not reach</h2>
      <ul>
        {not_erased.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <p>
        <a className={pageCss.textLink} href={receiptUrl(id, params)} download={`deletion-${id}.json`}>
          Download as JSON
        </a>
        {" · "}
        <AppLink className={pageCss.textLink} href={receiptHref(undefined, [])}>
          All deletions
        </AppLink>
      </p>
    </article>
  );
}

/** The number of requests that match the filter of the deletion now. */
function Today({ receipt: { check }, params }: { receipt: DeletionReceipt; params: Params }) {
  if (check === null) {
    return (
      <p>
        The log forgets the values of the filter, because they can identify a person. Open the receipt by the link that
        was shown after the deletion to see whether requests match the filter now.
      </p>
    );
  }
  if (!check.is_filter) {
    return <p role="alert">The filter in this link is not the filter of this deletion.</p>;
  }
  return (
    <p>
      {check.complete ? "" : "At least "}
      <AppLink className={pageCss.textLink} href={logHref(searchOf(params.filter(([name]) => name !== "to")))}>
        {plural(check.requests, "request")}
      </AppLink>{" "}
      {check.requests === 1 ? "matches" : "match"} the filter today.
    </p>
  );
}

function When({ at, pending }: { at: string | null; pending: string }) {
  return at === null ? <span className="muted">{pending}</span> : <Timestamp at={at} />;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className={css.page}>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

type UnreadProps = { error: Error | null; subject: string; onRetry: () => void };

function Unread({ error, subject, onRetry }: UnreadProps) {
  if (error === null) return <p className={pageCss.loading}>Loading…</p>;
  const action = { label: "All deletions", onClick: () => window.location.assign(receiptHref(undefined, [])) };
  return (
    <ReadError error={error} subject={subject} onRetry={onRetry} invalid="There is no such receipt" action={action} />
  );
}
