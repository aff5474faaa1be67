import type { Client } from '../client.ts';
import { continues, type Entity, entityOf, rangeHeaders } from '../entity.ts';
import { ReelayError } from '../failure.ts';
import type { Sink } from './partial-file.ts';

/** Bytes as they are: the size of a compressed response is not that of the file. */
const IDENTITY = { 'accept-encoding': 'identity' };

/** What the URL has. By HEAD first; a failure has its reason in the body, which only GET has. */
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
  partial: Sink,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const { entity, receivedBytes } = partial;
  const canResume = entity?.canResume === true && receivedBytes > 0;
  const range = canResume ? rangeHeaders(entity, receivedBytes) : {};
  const response = await client.send(url, { headers: { ...IDENTITY, ...range }, signal }).catch((error: unknown) => {
    if (error instanceof ReelayError && error.status === 416) return undefined;
    throw error;
  });
  if (response?.status === 206 && canResume && continues(response, entity, receivedBytes)) return response;
  if (response?.status === 200) {
    await partial.startOver(entityOf(response));
    return response;
  }
  await response?.body?.cancel();
  await partial.startOver({ canResume: false });
  return undefined;
}

/**
 * Appends a body to the file.
 * @throws ReelayError `interrupted` when the connection breaks or the end is missing, `unexpected-response` beyond the stated length
 */
export async function copyBody(body: Response['body'], partial: Sink, onBytes: () => void): Promise<void> {
  const interrupted = (cause?: unknown) =>
    new ReelayError(
      'interrupted',
      {
        message: partial.entity?.canResume
          ? 'The connection was lost'
          : 'The connection was lost, and this stream cannot be continued',
      },
      { cause },
    );
  const { totalBytes = Number.POSITIVE_INFINITY } = partial.entity ?? {};
  const reader = body?.getReader();
  try {
    for (;;) {
      const result = await reader?.read().catch((cause: unknown) => {
        throw interrupted(cause);
      });
      if (!result || result.done) break;
      if (partial.receivedBytes + result.value.length > totalBytes)
        throw new ReelayError('unexpected-response', { message: 'The response is longer than it states' });
      await partial.append(result.value);
      onBytes();
    }
  } finally {
    // Also closes a connection that still sends.
    reader?.cancel().catch(() => undefined);
  }
  const isShort = Number.isFinite(totalBytes) && partial.receivedBytes < totalBytes;
  if (isShort || partial.receivedBytes === 0) throw interrupted();
}
