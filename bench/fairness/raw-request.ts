import { connect } from 'node:net';
import { type ResourceAnswer, streamPath } from '../clients.ts';

interface RawRequest {
  /** Address of the client: another one of loopback for each client. */
  readonly from: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Keeps the body as text; else its bytes are counted and dropped. */
  readonly isText?: boolean;
  /** Called with the length of each part of the body. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

export interface RawAnswer {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}

/** All answers are read into the same memory: a client that keeps nothing costs a fraction of one that does. */
const MEMORY = Buffer.allocUnsafe(512 * 1024);
const HEAD_END = '\r\n\r\n';

/** GET by a connection of its own. @throws Error when the answer is shorter than its Content-Length, or the connection breaks */
export function rawGet(host: string, path: string, options: RawRequest): Promise<RawAnswer> {
  const { from, headers = {}, isText, onBytes, signal } = options;
  const [address, port] = host.split(':');
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  let head = '';
  let isBody = false;
  let bytes = 0;
  let text = '';
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (isText) text += chunk.toString('latin1');
    onBytes?.(chunk.length);
  };
  const read = (length: number) => {
    const chunk = MEMORY.subarray(0, length);
    if (isBody) {
      take(chunk);
      return true;
    }
    const before = head.length;
    head += chunk.toString('latin1');
    const end = head.indexOf(HEAD_END);
    if (end < 0) return true;
    isBody = true;
    head = head.slice(0, end);
    const rest = chunk.subarray(end + HEAD_END.length - before);
    if (rest.length > 0) take(rest);
    return true;
  };
  const socket = connect({
    host: address,
    port: Number(port),
    localAddress: from,
    onread: { buffer: MEMORY, callback: read },
    ...(signal && { signal }),
  });
  const lines = Object.entries({ host, connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}`);
  socket.once('error', reject);
  socket.once('close', () => {
    const [, status = 0] = /^HTTP\/1\.1 (\d+)/.exec(head) ?? [];
    const [, length = bytes] = /^content-length: (\d+)/im.exec(head) ?? [];
    if (isBody && Number(length) === bytes) resolve({ status: Number(status), bytes, text });
    else reject(new Error(`${status} with ${bytes} of ${length} bytes for ${path}`));
  });
  return promise;
}

/** Resolves a link. @returns the path of its best stream @throws unless it is answered 200 */
export async function resolvedPath(host: string, link: string, options: RawRequest): Promise<string> {
  const path = `/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`;
  const { status, text } = await rawGet(host, path, { ...options, isText: true });
  if (status !== 200) throw new Error(`${status} for ${link}`);
  return streamPath((JSON.parse(text) as ResourceAnswer).mediaItems, ['video', 'audio'], link);
}
