/** The list of deletions, and the receipt of one deletion. */

import { Table } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { deletionsQuery, receiptQuery, receiptUrl } from "~/api/deletions";
import type { Params } from "~/api/matches";
import { searchOf, toApiParams } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import { absoluteTime, dayAndTime } from "~/format/time";
import type { DeletionReceipt, DeletionRow } from "~/generated/api-types";
import { AppLink, logHref, receiptHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { Message, ReadError } from "~/ui/messages";
import pageCss from "~/ui/page.module.css";
import { Timestamp, useToday } from "~/ui/timestamp";
import { describeDeleted, describeFilter } from "./deleted-text";
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
    <Table className={css.table} borderColor="var(--color-border)">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Deletion requested</Table.Th>
          <Table.Th>By</Table.Th>
          <Table.Th ta="end">Requests deleted</Table.Th>
          <Table.Th>Filter</Table.Th>
          <Table.Th>Removed from log</Table.Th>
          <Table.Th>Erased from disk</Table.Th>
          <Table.Th>Receipt</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {deletions.map((deletion) => (
          <Table.Tr key={deletion.id}>
            <Table.Td className="nowrap" data-name="Deletion requested">
              <Timestamp at={deletion.requested_at} />
            </Table.Td>
            <Table.Td className="nowrap" data-name="By">
              <bdi>{deletion.requested_by}</bdi>
            </Table.Td>
            <Table.Td className={css.number} data-name="Requests deleted">
              {count(deletion.state === "removing" ? deletion.requests : deletion.removed)}
            </Table.Td>
            <Table.Td className="wrap-anywhere" data-name="Filter">
              <bdi>{describeFilter(deletion.filter, (at) => dayAndTime(at, now))}</bdi>
            </Table.Td>
            <Table.Td className="nowrap" data-name="Removed from log">
              <When at={deletion.removed_at} pending="removing…" />
            </Table.Td>
            <Table.Td className="nowrap" data-name="Erased from disk">
              <When at={deletion.done_at} pending={deletion.removed_at === null ? "–" : "erasing…"} />
            </Table.Td>
            <Table.Td>
              <AppLink className="link" href={receiptHref(deletion.id, [])}>
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
  const { id = "" } = useParams({ strict: false });
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
  const { id, requests, removed, requested_at, requested_by, removed_at, done_at, is_final, check, not_erased } =
    receipt;
  const isVerified = check?.is_filter === true;
  return (
    <article className={css.receipt}>
      <p className={css.first}>
        {plural(removed_at === null ? requests : removed, "request")}
        {isVerified && describeDeleted(params)}{" "}
        {removed_at === null
          ? `${requests === 1 ? "is" : "are"} being deleted.`
          : done_at === null
            ? "removed from the log, not yet erased from the disk."
            : "removed from the log and erased from the disk."}
      </p>
      <div role="status">
        {!is_final && (
          <p className={css.notFinal}>
            This receipt is not final: the requests are still being{" "}
            {removed_at === null ? "removed from the log" : "erased from the disk"}. This page updates automatically.
            Download the receipt when it is final.
          </p>
        )}
      </div>
      <dl className={css.facts}>
        <Fact name="Requested">
          <AbsoluteTime at={requested_at} /> by <bdi>{requested_by}</bdi>
        </Fact>
        <Fact name="Removed from the log">{removed_at === null ? NOT_YET : <AbsoluteTime at={removed_at} />}</Fact>
        <Fact name="Erased from disk">{done_at === null ? NOT_YET : <AbsoluteTime at={done_at} />}</Fact>
        <Fact name="Filter">
          <StoredFilter receipt={receipt} />
        </Fact>
        <Fact name="Id">
          <bdi className={css.id}>{id}</bdi>
        </Fact>
      </dl>
      <h2>Requests that match the filter now</h2>
      <MatchesNow receipt={receipt} params={params} />
      <h2>What this deletion does not reach</h2>
      <ul>
        {not_erased.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <p>
        <a className="link" href={receiptUrl(id, params)} download={`deletion-${id}.json`}>
          Download as JSON
        </a>
        {" · "}
        <AppLink className="link" href={receiptHref(undefined, [])}>
          All deletions
        </AppLink>
      </p>
    </article>
  );
}

const NOT_YET = <span className="muted">not yet</span>;

/** The filter of the deletion. The link can contain values that the log does not keep. */
function StoredFilter({ receipt: { filter, check } }: { receipt: DeletionReceipt }) {
  const lacksValues = filter.some(([, value]) => value === null);
  const known = check?.is_filter === true ? check.filter : undefined;
  return (
    <>
      <bdi>{describeFilter(known ?? filter, absoluteTime) || "–"}</bdi>
      {lacksValues && (
        <p className={css.hint}>
          {known !== undefined
            ? "The receipt does not keep the values; this link still has them."
            : "The receipt does not keep the values, because they can identify a person."}
        </p>
      )}
    </>
  );
}

/** The number of requests that match the filter of the deletion now. */
function MatchesNow({ receipt: { check }, params }: { receipt: DeletionReceipt; params: Params }) {
  if (check === null) {
    return (
      <p>
        Not checked, because this receipt does not store the values of the filter. To check, search the log for the
        values, or open the link that was shown right after the deletion.
      </p>
    );
  }
  if (!check.is_filter) {
    return <p role="alert">The filter in this link is not the filter of this deletion.</p>;
  }
  return (
    <p>
      {check.requests === 0 ? (
        "No requests"
      ) : (
        <>
          {check.complete ? "" : "At least "}
          <AppLink className="link" href={logHref(searchOf(params.filter(([name]) => name !== "to")))}>
            {plural(check.requests, "request")}
          </AppLink>
        </>
      )}{" "}
      {check.requests === 1 ? "matches" : "match"} the filter, checked <AbsoluteTime at={check.checked_at} />.
    </p>
  );
}

function AbsoluteTime({ at }: { at: string }) {
  return <time dateTime={at}>{absoluteTime(at)}</time>;
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
