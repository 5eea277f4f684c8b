/** The status dialog: storage, gaps, rejected requests, settings, and signing out. */

import { Alert, Box, Button, Group, Modal, Stack, Table } from "@mantine/core";
import "@mantine/core/styles/Alert.css";
import "@mantine/core/styles/Table.css";
import { useSignedIn, useSignOut } from "~/api/session";
import { gapCount, gapSpan } from "~/domain/gaps";
import { bytes, count, plural } from "~/format/number";
import { listTime, utc } from "~/format/time";
import type { DeletionRow, LogGap, RecorderStatus, RouteRow, Status } from "~/generated/api-types";
import { GAP_REASONS, REFUSALS } from "~/generated/vocabulary";
import { AppLink, receiptHref } from "~/navigation/links";
import { CopyButton } from "~/ui/copy-button";
import pageCss from "~/ui/page.module.css";
import { useHealth } from "./health";
import { SettingsTable } from "./settings-table";
import css from "./status-dialog.module.css";
import {
  DELETION_STATES,
  formatDelay,
  formatDeletedTerm,
  formatRecorder,
  formatRemoval,
  retentionFacts,
  untilFull,
} from "./status-text";

type StatusPanelProps = { opened: boolean; onClose: () => void };

/** Problems with advice, journal, log, disk, gaps, requests that were not admitted, settings. */
export function StatusPanel({ opened, onClose }: StatusPanelProps) {
  const { status, at, health } = useHealth();
  const isSignedIn = useSignedIn();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Status of Relaybook"
      size="760px"
      // The status bar itself takes the focus back. Scrolling need not be locked, because only regions of the page
      // scroll.
      returnFocus={false}
      lockScroll={false}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ "aria-label": "Close" }}
      // Without a role, its <header> would be another banner landmark of the page.
      attributes={{ header: { role: "presentation" } }}
    >
      <Stack className={css.panel} gap={20}>
        {health.troubles.map((trouble) => (
          <Alert key={trouble.sentence} color={trouble.tone === "bad" ? "red" : "yellow"} title={trouble.sentence}>
            {trouble.advice}
          </Alert>
        ))}
        {health.tone === "good" && <p data-tone="good">● Requests are being logged. No problems.</p>}
        {isSignedIn && <SignOut />}
        {status !== undefined && at !== null && (
          <>
            <StorageSummary status={status} />
            <ServerList recorders={status.recorders} now={at} />
            <RetentionSummary status={status} now={at} />
            <DeletionList deletions={status.deletions} now={at} />
            <GapList gaps={status.gaps} total={status.gap_count} now={at} />
            <RefusalList refused={status.refused} />
            <RouteList routes={status.routes} />
            <SettingsTable settings={status.settings} />
            <p className="muted">
              Relaybook {status.version} · base URL <code>{status.relay_base_url}</code>{" "}
              <CopyButton text={status.relay_base_url} label="base URL" />
            </p>
          </>
        )}
      </Stack>
    </Modal>
  );
}

/** A button that signs this browser out. Shown near the top, because the settings below are long. */
export function SignOut({ reload }: { reload?: () => void }) {
  const signOut = useSignOut(reload);
  return (
    <div>
      <Group justify="space-between" gap="4px 16px">
        <p>This browser is signed in.</p>
        <Button variant="default" size="compact-sm" onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </Group>
      {signOut.error !== null && <p role="alert">Signing out failed: {signOut.error.message}</p>}
    </div>
  );
}

/** The sizes and states of journal, log and disk. */
export function StorageSummary({ status }: { status: Status }) {
  const { journal, storage } = status;
  return (
    <div className={css.columns}>
      <FactColumn
        title="Journal"
        facts={[
          ["not yet in the log", bytes(journal.lag_bytes)],
          ["oldest waiting entry", formatDelay(journal.lag_seconds)],
          ["running requests", count(status.running)],
          ["damaged entries", count(status.frames_lost)],
        ]}
      />
      <FactColumn
        title="Log"
        facts={[
          ["requests", count(status.records)],
          ["size", bytes(storage.store_bytes)],
        ]}
      />
      <FactColumn
        title="Disk"
        facts={[
          ["free", bytes(storage.disk_free_bytes)],
          [
            "time until full",
            storage.days_left === null ? "not enough data yet" : `about ${untilFull(storage.days_left)}`,
          ],
        ]}
      />
      {storage.data_path !== null && (
        <p className={css.path}>
          Data: <code>{storage.data_path}</code> <CopyButton text={storage.data_path} label="data directory" />
        </p>
      )}
    </div>
  );
}

type ServerListProps = { recorders: readonly RecorderStatus[]; now: Date };

/** The servers that share the log, and how far each is behind. */
export function ServerList({ recorders, now }: ServerListProps) {
  if (recorders.length === 0) return null;
  return <FactColumn title="Servers" facts={recorders.map((one) => [one.server, formatRecorder(one, now)])} />;
}

/** How long the parts of the log are kept, their oldest days, the next removals, and the last removal. */
export function RetentionSummary({ status, now }: { status: Status; now: Date }) {
  const { last_removal: removal } = status.retention;
  return (
    <section>
      <FactColumn title="Retention" facts={retentionFacts(status, now)} />
      <p title={removal === null ? undefined : utc(removal.at)}>{formatRemoval(removal, now)}</p>
    </section>
  );
}

type DeletionListProps = { deletions: readonly DeletionRow[]; now: Date };

/** The latest deletions by users. */
export function DeletionList({ deletions, now }: DeletionListProps) {
  if (deletions.length === 0) return null;
  return (
    <section>
      <h3>
        <AppLink className={pageCss.textLink} href={receiptHref(undefined, [])}>
          Deletions
        </AppLink>
      </h3>
      <ul className={css.list}>
        {deletions.map((deletion) => (
          <li key={deletion.id}>
            <span className="muted" title={utc(deletion.requested_at)}>
              {listTime(deletion.requested_at, now)}
            </span>{" "}
            <span>
              <strong>{plural(deletion.removed, "request")}</strong> deleted by <bdi>{deletion.requested_by}</bdi>
              {deletion.filter.length > 0 && (
                <>
                  {" "}
                  (<bdi>{deletion.filter.map(formatDeletedTerm).join(" · ")}</bdi>)
                </>
              )}
              : {DELETION_STATES[deletion.state]}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type FactColumnProps = { title: string; facts: readonly (readonly [name: string, value: string])[] };

/** Names and values under a heading. */
export function FactColumn({ title, facts }: FactColumnProps) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {facts.map(([name, value]) => (
          <Group
            key={name}
            className="bottom-line"
            justify="space-between"
            gap={12}
            wrap="nowrap"
            align="stretch"
            py={2}
          >
            <dt className="muted">{name}</dt>
            <Box component="dd" ta="end">
              {value}
            </Box>
          </Group>
        ))}
      </dl>
    </section>
  );
}

type GapListProps = { gaps: readonly LogGap[]; total: number; now: Date };

/** The gaps in the log: when they occurred, how much is missing, and why. */
export function GapList({ gaps, total, now }: GapListProps) {
  return (
    <section>
      <h3>Gaps</h3>
      {gaps.length === 0 ? (
        <p>Nothing is missing from the log.</p>
      ) : (
        <ul className={css.list}>
          {gaps.map((gap) => (
            <li key={`${gap.from_at} ${gap.reason}`}>
              <span className="muted" title={`${utc(gap.from_at)} – ${utc(gap.to_at)}`}>
                {gapSpan(gap, now)}
              </span>{" "}
              <span>
                <strong>{gapCount(gap)}</strong> {GAP_REASONS[gap.reason]}
              </span>
            </li>
          ))}
        </ul>
      )}
      {total > gaps.length && (
        <p>
          The latest {count(gaps.length)} of {plural(total, "gap")}.
        </p>
      )}
    </section>
  );
}

/** The routes, if there is more than one: their base URLs and upstreams. */
export function RouteList({ routes }: { routes: readonly RouteRow[] }) {
  if (routes.length < 2) return null;
  return (
    <section>
      <h3>Routes</h3>
      <Table className={`${css.table} ${css.routes}`} borderColor="var(--color-border)">
        <Table.Thead className="muted">
          <Table.Tr>
            <Table.Th>route</Table.Th>
            <Table.Th>base URL and upstream</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {routes.map(({ name, base_url, upstream }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td className="wrap-anywhere">
                <code>{base_url}</code> <CopyButton text={base_url} label={`base URL of ${name}`} />
                <div className="muted">→ {upstream}</div>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** Requests that were not admitted, by error code. They have no record. */
export function RefusalList({ refused }: { refused: Readonly<Record<string, number>> }) {
  const codes = Object.entries(refused).sort(([, one], [, other]) => other - one);
  return (
    <section>
      <h3>Refused requests (not logged)</h3>
      {codes.length === 0 ? (
        <p>None. Relaybook refuses malformed requests, and requests above a limit in its settings.</p>
      ) : (
        <Table className={css.table} borderColor="var(--color-border)">
          <Table.Thead className="muted">
            <Table.Tr>
              <Table.Th>code</Table.Th>
              <Table.Th ta="end">requests</Table.Th>
              <Table.Th>meaning</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {codes.map(([code, many]) => (
              <Table.Tr key={code}>
                <Table.Th scope="row">
                  <code>{code}</code>
                </Table.Th>
                <Table.Td ta="end">{count(many)}</Table.Td>
                <Table.Td>{REFUSALS[code] ?? "See the documentation of errors."}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
