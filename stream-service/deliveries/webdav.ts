import {
  type Destination,
  type DestinationRequest,
  isPassingFailure,
  MAX_RETRIES,
  refusal,
  type Upload,
  withRetries,
} from './destination.ts';
import type { DestinationOptions } from './s3.ts';

export interface WebDavTarget {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
}

/** The name of a file that is not whole yet. */
const UNFINISHED = '.part';

/**
 * A folder of a WebDAV server (RFC 4918). The protocol cannot append to a file: one that breaks off is sent again. It is
 * written under another name, so that what has its name is whole.
 */
export function createWebDav({ url, username, password = '' }: WebDavTarget, options: DestinationOptions): Destination {
  const base = new URL(url).href.replace(/\/*$/, '/');
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const authorization: Record<string, string> = username === undefined ? {} : { authorization: `Basic ${credentials}` };
  const urlOf = (path: string) => base + path.split('/').map(encodeURIComponent).join('/');
  const folders = new Set<string>();

  const send = async (
    { headers, ...request }: Omit<DestinationRequest, 'url'> & { readonly path: string },
    allowed: number[] = [],
  ) => {
    const { path, ...rest } = request;
    const response = await options.send({ ...rest, url: urlOf(path), headers: { ...headers, ...authorization } });
    if ((response.status < 200 || response.status >= 300) && !allowed.includes(response.status))
      throw refusal(response.status);
    return response;
  };
  const retried = <T>(attempt: () => Promise<T>, signal: AbortSignal = new AbortController().signal) =>
    withRetries(attempt, { isPassing: isPassingFailure, pauseMs: options.pauseMs, maxRetries: MAX_RETRIES, signal });

  /** 405: it exists (RFC 4918 §9.3.1). */
  const createFolders = async (path: string) => {
    const segments = path.split('/').slice(0, -1);
    for (const [index] of segments.entries()) {
      const folder = `${segments.slice(0, index + 1).join('/')}/`;
      if (folders.has(folder)) continue;
      await retried(() => send({ method: 'MKCOL', path: folder, headers: {} }, [405]));
      folders.add(folder);
    }
  };

  const sizeOf = async (path: string): Promise<number | undefined> => {
    const { status, headers } = await retried(() => send({ method: 'HEAD', path, headers: {} }, [404]));
    const length = headers['content-length'];
    return status === 404 || length === undefined ? undefined : Number(length);
  };
  const discard = async ({ path }: Upload): Promise<void> => {
    await retried(() => send({ method: 'DELETE', path: path + UNFINISHED, headers: {} }, [404]));
  };

  return {
    sizeOf,
    discard,
    async store({ path, size, mimeType, read }, { upload, stop, onUpload, onStored }) {
      if (upload && upload.path !== path) await discard(upload);
      await createFolders(path);
      await onUpload({ path });
      const unfinished = path + UNFINISHED;
      let sent = 0;
      await retried(async () => {
        onStored(-sent);
        sent = 0;
        const body = read(0);
        const onStop = () => body.destroy(stop.reason);
        stop.addEventListener('abort', onStop, { once: true });
        try {
          stop.throwIfAborted();
          const onSent = (bytes: number) => {
            sent += bytes;
            onStored(bytes);
          };
          const headers = { 'content-type': mimeType };
          await send({ method: 'PUT', path: unfinished, headers, body, bodyBytes: size, onSent });
        } finally {
          stop.removeEventListener('abort', onStop);
          body.destroy();
        }
      }, stop);
      const headers = { destination: urlOf(path), overwrite: 'T' };
      const { status } = await retried(() => send({ method: 'MOVE', path: unfinished, headers }, [404]));
      // The answer to an earlier attempt may have been lost.
      if (status === 404 && (await sizeOf(path)) !== sent) throw refusal(status);
    },
  };
}
