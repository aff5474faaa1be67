import { problems } from './problem.ts';
import type { Schema } from './schemas.ts';

/** The unreserved characters of a URL: those of a UUID, and of what clients make of a time and a random number. */
const JOB_ID = /^[\w.~-]{1,64}$/;

/**
 * Parses the id that a client gives to the making of an archive.
 * @throws Problem 404 when it is blank, 400 unless it has up to 64 unreserved characters
 */
export function parseJobId(text: string): string {
  const id = text.trim();
  if (id === '') throw problems.notFound();
  if (!JOB_ID.test(id)) throw problems.badRequest('jobId must have at most 64 letters, digits, or any of . _ ~ -');
  return id;
}

/** Milliseconds for which a client may wait for a job that nobody has begun: it asks for the progress first. */
export const UNKNOWN_JOB_MS = 30_000;

/** The headers of an event stream. Proxies must neither keep it nor collect it before they pass it on (nginx). */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

/**
 * An unnamed event of the progress of an archive (HTML standard, server-sent events). Lambda answers with one as text, for which
 * plugins of a server are of no use.
 */
export function progressEvent(progress: Schema<'ArchiveProgress'>): string {
  const { state, total, completed, current, skipped, missingEntries } = progress;
  return `data: ${JSON.stringify({ state, total, completed, current, skipped, missingEntries })}\n\n`;
}

const RECONNECT_MS = 3_000;
const EPOCH_MS = /^\d{1,15}$/;

/**
 * For a host that cannot keep a response open: the client connects again soon, and then sends the id. Without data it is no
 * event.
 * @param since epoch milliseconds from which the client has waited
 */
export const reconnectLines = (since: number): string => `id: ${since}\nretry: ${RECONNECT_MS}\n\n`;

/**
 * Epoch milliseconds from which a client has waited for a job: by the id of `reconnectLines`, else from now on.
 * @param lastEventId the header Last-Event-ID
 */
export const waitingSince = (lastEventId: string | undefined, now: number): number =>
  lastEventId !== undefined && EPOCH_MS.test(lastEventId) ? Math.min(Number(lastEventId), now) : now;
