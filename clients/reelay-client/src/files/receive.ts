import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';

/** Metadata of the file in a response (RFC 9110 §8). */
export interface Entity {
  /** Exact size. */
  readonly totalBytes?: number | undefined;
  /** The estimate of the instance where the size is unknown. */
  readonly estimatedBytes?: number | undefined;
  /** Strong: only such a tag allows combining ranges (RFC 9110 §15.3.7.3). */
  readonly etag?: string | undefined;
  /** Has ranges, a strong ETag and a known size. */
  readonly canResume: boolean;
  /** As the instance names it: not yet fit for a path. */
  readonly fileName?: string | undefined;
}

/** Where received bytes go: a file, or a pipe. */
export interface Sink {
  /** Undefined: nothing was received yet, or it is not known of which entity. */
  readonly entity: Entity | undefined;
  readonly receivedBytes: number;
  /** Removes what is there, for another entity. */
  startOver(entity: Entity): Promise<void>;
  append(bytes: Uint8Array): Promise<void>;
}

/** Bytes as they are: the size of a compressed response is not that of the file. */
const IDENTITY = { 'accept-encoding': 'identity' };

/** The entity at a URL. By HEAD first; a failure has its reason in the body, which only GET has. */
export async function describeStream(client: Pick<Client, 'send'>, url: string, signal: AbortSignal): Promise<Entity> {
  const head = await client.send(url, { method: 'HEAD', headers: IDENTITY, signal }).catch((error: unknown) => {
    if (error instanceof ReelayError && error.code === 'unexpected-response') return undefined;
    throw error;
  });
  const response = head ?? (await client.send(url, { headers: IDENTITY, signal }));
  await response.body?.cancel();
  return entityOf(response);
}

/**
 * A response with what the file lacks. Where it is another file by now, or no longer known which, the file is emptied first.
 * @returns undefined when the next request has to begin anew
 */
export async function openRest(
  client: Pick<Client, 'send'>,
  url: string,
  sink: Sink,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const { entity, receivedBytes } = sink;
  const etag = entity?.canResume && receivedBytes > 0 ? entity.etag : undefined;
  // The rest, or the whole file if it has changed (RFC 9110 §13.1.5).
  const range = etag && { range: `bytes=${receivedBytes}-`, 'if-range': etag };
  const response = await client.send(url, { headers: { ...IDENTITY, ...range }, signal }).catch((error: unknown) => {
    if (error instanceof ReelayError && error.status === 416) return undefined;
    throw error;
  });
  if (response?.status === 206 && etag && entity && continues(response, entity, receivedBytes)) return response;
  if (response?.status === 200) {
    await sink.startOver(entityOf(response));
    return response;
  }
  await response?.body?.cancel();
  await sink.startOver({ canResume: false });
  return undefined;
}

/**
 * Appends a body to the file.
 * @throws ReelayError `interrupted` when the connection breaks or the end is missing, `unexpected-response` beyond the stated length
 */
export async function copyBody(body: Response['body'], sink: Sink, onBytes: () => void): Promise<void> {
  const { totalBytes, canResume } = sink.entity ?? {};
  const message = `The connection was lost${canResume ? '' : ', and this stream cannot be continued'}`;
  const interrupted = (cause?: unknown) => new ReelayError('interrupted', { message }, { cause });
  const reader = body?.getReader();
  try {
    for (;;) {
      const result = await reader?.read().catch((cause: unknown) => {
        throw interrupted(cause);
      });
      if (!result || result.done) break;
      if (totalBytes !== undefined && sink.receivedBytes + result.value.length > totalBytes)
        throw new ReelayError('unexpected-response', { message: 'The response is longer than it states' });
      await sink.append(result.value);
      onBytes();
    }
  } finally {
    // Also closes a connection that still sends.
    reader?.cancel().catch(() => undefined);
  }
  if (sink.receivedBytes < (totalBytes ?? 0) || sink.receivedBytes === 0) throw interrupted();
}

/** The entity of a whole response. */
function entityOf({ headers }: Response): Entity {
  // The length of a compressed response is not that of the file.
  const totalBytes = headers.has('content-encoding') ? undefined : wholeNumber(headers.get('content-length'));
  const etag = /^"[^"]*"$/.exec(headers.get('etag') ?? '')?.[0];
  const hasRanges = /(^|,)\s*bytes\s*(,|$)/i.test(headers.get('accept-ranges') ?? '');
  return {
    canResume: hasRanges && etag !== undefined && totalBytes !== undefined,
    totalBytes,
    estimatedBytes: wholeNumber(headers.get('estimated-content-length')),
    etag,
    fileName: readFileName(headers.get('content-disposition') ?? ''),
  };
}

/** Whether a 206 response has the rest of the same file from this byte on. */
function continues({ headers }: Response, { etag, totalBytes }: Entity, from: number): boolean {
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(headers.get('content-range') ?? '') ?? [];
  const isSame = (headers.get('etag') ?? etag) === etag;
  return isSame && Number(first) === from && Number(total) === totalBytes && Number(last) === Number(total) - 1;
}

/** The name in a Content-Disposition (RFC 6266): the extended form before the plain one. */
function readFileName(header: string): string | undefined {
  const [, extended] = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header) ?? [];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // Malformed: the plain name follows.
    }
  }
  const [, quoted, token] = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
}

const wholeNumber = (header: string | null): number | undefined =>
  header !== null && /^\d{1,15}$/.test(header.trim()) ? Number(header) : undefined;
