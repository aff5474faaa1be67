import { randomUUID } from 'node:crypto';
import {
  type Destination,
  type DestinationRequest,
  failureByStatus,
  refusal,
  type SendOptions,
  type SendRequest,
  sizeBy,
  type Upload,
  unlessRefused,
} from './destination.ts';

export interface WebDavTarget {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
}

interface Call extends Pick<DestinationRequest, 'method' | 'headers' | 'body' | 'bodyBytes' | 'onSent'> {
  readonly path: string;
}

/** It exists (RFC 4918 §9.3.1), or its user may create none: storing a file in it tells. */
const NO_NEW_FOLDER = [301, 403, 405, 501];

/**
 * A folder of a WebDAV server (RFC 4918). The protocol cannot append to a file: one that breaks off is sent again. It is
 * written under a name of its own, so that what has its name is whole, and two processes never write the same one.
 */
export function createWebDav({ url, username, password = '' }: WebDavTarget, send: SendRequest): Destination {
  const base = new URL(url).href.replace(/\/*$/, '/');
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const authorization: Record<string, string> = username === undefined ? {} : { authorization: `Basic ${credentials}` };
  const urlOf = (path: string) => base + path.split('/').map(encodeURIComponent).join('/');
  const unfinishedOf = ({ path, id }: Upload) => `${path}.${id}.part`;
  const folders = new Set<string>();

  const callEach = (prepare: () => Call, options?: SendOptions) =>
    send(() => {
      const { path, headers, ...request } = prepare();
      return { ...request, url: urlOf(path), headers: { ...headers, ...authorization } };
    }, options);
  /** @param accepted statuses besides those of success */
  const call = (method: Call['method'], path: string, accepted: readonly number[] = [], headers = {}) =>
    callEach(() => ({ method, path, headers }), {
      failureOf: ({ status }) => (accepted.includes(status) ? undefined : failureByStatus({ status })),
    });

  const createFolders = async (path: string) => {
    const segments = path.split('/').slice(0, -1);
    for (const [index] of segments.entries()) {
      const folder = `${segments.slice(0, index + 1).join('/')}/`;
      if (folders.has(folder)) continue;
      await call('MKCOL', folder, NO_NEW_FOLDER);
      folders.add(folder);
    }
  };

  const sizeOf = (path: string) => sizeBy(call('HEAD', path));
  const discard = async (upload: Upload): Promise<void> => {
    await call('DELETE', unfinishedOf(upload), [404]);
  };

  return {
    sizeOf,
    discard,
    async store({ path, size, mimeType, read }, { upload: former, stop, onUpload, onStored, onWhole }) {
      if (former) await discard(former).catch(unlessRefused);
      await createFolders(path);
      const upload = { path, id: randomUUID() };
      await onUpload(upload);
      const unfinished = unfinishedOf(upload);
      let sent = 0;
      const prepare = (): Call => {
        onStored(-sent);
        sent = 0;
        const onSent = (bytes: number) => {
          sent += bytes;
          onStored(bytes);
        };
        const headers = { 'content-type': mimeType };
        return { method: 'PUT', path: unfinished, headers, body: read(0), bodyBytes: size, onSent };
      };
      await callEach(prepare, { stop });
      await onWhole();
      const { status } = await call('MOVE', unfinished, [404], { destination: urlOf(path), overwrite: 'T' });
      // The answer to an earlier attempt may have been lost.
      if (status === 404 && (await sizeOf(path)) !== sent) throw refusal(status);
    },
  };
}
