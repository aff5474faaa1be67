import { type DeliveryOrder, type DeliveryReport, parseDeliveryParameters, toProblem } from '../../core/api/index.ts';
import { abortable, withRetries } from '../../core/concurrency/index.ts';
import { DestinationFailed } from '../../core/errors/index.ts';
import { digestOf, fileName, namingOf } from '../../core/http/index.ts';
import { type Resolver, toArchivedList } from '../../core/resolve/index.ts';
import type { PlaylistEntry, State } from '../../core/state/index.ts';
import {
  chooseRendition,
  isAtLimit,
  isFinal,
  listContents,
  type OutputPlan,
  type Outputs,
  type Representation,
  type RepresentationHead,
  readStored,
  resolveEntry,
} from '../outputs/index.ts';
import type { Segments } from '../segments/index.ts';
import { openChildSession, type StreamSession } from '../sessions/index.ts';
import type { Destination, Upload } from './destination.ts';

/** How far a delivery is; a process that continues it needs nothing else. */
export interface DeliveryCursor {
  /** Digest of the entries that `next` counts. */
  list?: string;
  /** Position of the first entry that is not done. */
  next: number;
  /** Stored bytes of those that are done. A report may have been saved in the middle of a file, which is counted again. */
  bytes?: number;
  upload?: Upload | undefined;
}

export interface Delivery {
  readonly order: DeliveryOrder;
  /** Changed as the delivery proceeds. */
  readonly report: { -readonly [Name in keyof DeliveryReport]: DeliveryReport[Name] };
  readonly cursor: DeliveryCursor;
}

export interface RunDeps {
  readonly segments: Pick<Segments, 'apply'>;
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  readonly resolve: Resolver['resolve'];
  readonly outputs: Outputs<OutputPlan>;
  readonly destination: Destination;
  readonly session: StreamSession;
  /** Stores the delivery: a process that continues it does so from here. */
  readonly save: () => Promise<void>;
  /** Aborted when it is to stop at the next part. */
  readonly stop: AbortSignal;
  /** Aborted when it is to stop at once. */
  readonly cancelled: AbortSignal;
  readonly pauseMs: number;
}

const RESOLVE_TIMEOUT_MS = 25_000;
/** Of an entry whose source fails. A stream repeats its own requests before. */
const MAX_ENTRY_RETRIES = 2;
/** Of failed entries, in a report that is stored with each of them, in an item of at most 400 KB. */
const MAX_REPORTED_FAILURES = 200;
const MAX_TITLE_CHARS = 200;

/**
 * Sends what was ordered, entry by entry, from where it stopped. An entry that cannot be read is reported, and the others go on.
 * @throws DestinationFailed, the failure of resolving the link, or the reason of `stop`
 */
export async function runDelivery(delivery: Delivery, deps: RunDeps): Promise<void> {
  const { order, report, cursor } = delivery;
  const { resolve, session, save, stop, pauseMs } = deps;
  const { url, to: _to, webhook: _webhook, ...query } = order;
  const { entries, format: conversion, ...parameters } = parseDeliveryParameters(query);
  const isPassing = (error: unknown) => !isEnd(error) && !isFinal(error) && toProblem(error).details.status >= 500;
  const isEnd = (error: unknown) =>
    stop.aborted || session.signal.aborted || isAtLimit(error) || error instanceof DestinationFailed;

  const attempt = () =>
    resolve(url.trim(), { deadline: Date.now() + RESOLVE_TIMEOUT_MS, signal: session.signal, client: session.client });
  const retries = { isPassing, pauseMs, maxRetries: MAX_ENTRY_RETRIES, signal: stop };
  const resolved = await withRetries(attempt, retries);
  const list = toArchivedList(resolved, url, { selected: entries });
  const contents = listContents(list, { format: 'zip', from: 1 });
  const numbered = [...contents.entries];
  const digest = digestOf(numbered.map(([number, entry]) => [number, entry.url]));
  if (cursor.list !== digest) {
    // Files that are there are not sent again.
    Object.assign(report, { completed: 0, skipped: 0, failed: [] });
    Object.assign(cursor, { list: digest, next: 0 });
  }
  report.total = numbered.length;
  session.markStreaming();
  await save();

  const request = { contents, parameters: { ...parameters, conversion } };
  for (const [position, [number, entry]] of numbered.entries()) {
    if (position < cursor.next) continue;
    stop.throwIfAborted();
    const title = entry.title?.slice(0, MAX_TITLE_CHARS) ?? null;
    report.current = title;
    try {
      await withRetries(() => sendEntry(number, entry), retries);
    } catch (error) {
      if (isEnd(error)) throw error;
      const { type, detail } = toProblem(error).details;
      report.failed = [...report.failed, { number, title, type, ...(detail && { detail }) }].slice(
        -MAX_REPORTED_FAILURES,
      );
      if (cursor.upload) await deps.destination.discard(cursor.upload);
    }
    Object.assign(cursor, { next: position + 1, upload: undefined });
    report.current = null;
    await save();
  }

  async function sendEntry(number: number, entry: PlaylistEntry): Promise<void> {
    const { outputs, destination } = deps;
    const child = openChildSession(session);
    report.bytes = cursor.bytes ?? 0;
    try {
      const resource = (await readStored(entry, deps)) ?? (await resolveEntry(entry, list, child, deps));
      const { plan, title, author } = await chooseRendition(resource, number, request, deps);
      const naming = { title, author };
      const pathOf = (head: RepresentationHead) =>
        resolved.type === 'Media'
          ? fileName(namingOf(naming, plan, head), head.fileExtension)
          : contents.pathOf(number, naming, head.fileExtension);
      const isThere = async (head: RepresentationHead) =>
        head.size !== undefined && (await destination.sizeOf(pathOf(head))) === head.size;
      const isKnown = plan.head.size !== undefined;
      const open = () => abortable(outputs.open(plan, child, { first: 0 }), child.signal);
      const file = isKnown && (await isThere(plan.head)) ? undefined : await open();
      if (!file || (!isKnown && (await isThere(file)))) {
        if (cursor.upload) await destination.discard(cursor.upload);
        report.skipped += 1;
        return;
      }
      const isRanged = file.acceptRanges === 'bytes';
      await destination.store(
        { ...file, path: pathOf(file), isRanged, read: readIn(child, file) },
        {
          upload: cursor.upload,
          onWhole: save,
          onUpload(upload) {
            cursor.upload = upload;
            return save();
          },
          onStored(bytes) {
            report.bytes += bytes;
          },
          stop,
          cancelled: deps.cancelled,
        },
      );
      report.completed += 1;
      cursor.bytes = report.bytes;
    } finally {
      report.bytes = cursor.bytes ?? 0;
      child.close();
    }
  }
}

/** Streams that end with a session. */
const readIn =
  ({ onClose }: Pick<StreamSession, 'onClose'>, { read }: Pick<Representation, 'read'>): Representation['read'] =>
  (first, last) => {
    const body = read(first, last);
    onClose(() => body.destroy());
    return body;
  };
