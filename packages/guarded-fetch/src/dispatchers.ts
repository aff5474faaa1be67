import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Destination } from './address-guard.ts';
import type { Dialer } from './dial.ts';
import { UpstreamError } from './errors.ts';
import { DIRECT_ROUTES, isSocks, type OutgoingRoutes } from './outgoing-routes.ts';
import { readBufferShareBytes, releaseBuffer } from './socket.ts';
import { openRouteTunnel } from './socks-tunnel.ts';

/** How connections are opened. */
export interface DispatcherOptions {
  readonly dialer: Dialer;
  /** @default every connection is direct */
  readonly routes?: OutgoingRoutes;
  /** For upstreams and https proxies. @default the certificates that Node trusts */
  readonly secureContext?: SecureContext | undefined;
  /** For the TLS handshake and the SOCKS handshake, and for a proxy to open a tunnel. @default 10_000 */
  readonly connectTimeoutMs?: number | undefined;
}

/** A dispatcher over sockets that `open` connects to the destination, directly or through a tunnel. */
export function socketDispatcher(
  open: (destination: Destination) => Promise<Socket>,
  { secureContext, connectTimeoutMs = 10_000 }: DispatcherOptions,
): Dispatcher {
  const secure = buildConnector({ allowH2: false, timeout: connectTimeoutMs, secureContext });
  const connect: buildConnector.connector = (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
    open({ hostname: target.hostname, port }).then(
      (socket) => {
        // It may have failed since; undici would wait for its 'close', which has been emitted.
        if (socket.destroyed) return callback(socket.errored ?? new UpstreamError('Connection lost'), null);
        if (target.protocol !== 'https:') return callback(null, socket);
        secure({ ...target, httpSocket: socket }, (...result) => {
          if (result[1]) coalesceTlsRecords(result[1], readBufferShareBytes);
          callback(...result);
        });
      },
      (error: Error) => callback(error, null),
    );
  };
  return new Agent({ connect, allowH2: false });
}

export function proxyDispatcher(proxy: URL, options: DispatcherOptions): Dispatcher {
  const { routes = DIRECT_ROUTES, secureContext, connectTimeoutMs = 10_000 } = options;
  if (isSocks(proxy))
    return socketDispatcher(
      (destination) => openRouteTunnel(routes, { proxy, destination, timeoutMs: connectTimeoutMs }),
      options,
    );
  const tls = secureContext ? { secureContext } : {};
  const watched = (pool: Pool) => pool.on('connectionError', () => routes.reportFailure(proxy));
  return new ProxyAgent({
    uri: proxy.href,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    requestTls: tls,
    proxyTls: tls,
    // Bounds the CONNECT response too, which ProxyAgent's connectTimeout does not cover.
    clientFactory: (origin, settings) => watched(new Pool(origin, { ...settings, headersTimeout: connectTimeoutMs })),
    // With the origin of the proxy: for requests by absolute URL. With any other: through a tunnel to that origin.
    factory: (origin, settings) => {
      const pool = new Pool(origin, settings);
      return new URL(origin).origin === proxy.origin ? watched(pool) : pool;
    },
  });
}

/** ProxyAgent reports the status of the proxy, for CONNECT and for a request by absolute URL, in the message alone. */
export const isProxyAuthFailure = (error: unknown): boolean =>
  error instanceof Error && /^Proxy .*\(407\)/.test(error.message);

/** Maximum plaintext of a TLS record (RFC 8446 §5.1). A shorter record usually ends a write of the sender. */
const MAX_RECORD_BYTES = 16 * 1024;
/** One read of Node contains four records. Below that limit each record is passed on immediately. */
const MIN_COALESCED_BYTES = 4 * MAX_RECORD_BYTES;

/**
 * Makes a TLS socket emit the full records that arrive within one turn of the event loop as one chunk, which saves the
 * per-chunk cost of the streams behind it. A shorter record flushes, so that data and errors keep their order.
 *
 * @param limitBytes maximum number of bytes to buffer
 */
export function coalesceTlsRecords(socket: Socket, limitBytes: () => number): void {
  const push = socket.push.bind(socket);
  let records: Buffer[] = [];
  let bytes = 0;

  const flush = () => {
    if (bytes > 0 && !socket.destroyed) push(joinRecords(records, bytes));
    records = [];
    bytes = 0;
  };
  socket.push = (record: Buffer | null) => {
    if (record === null) {
      flush();
      return push(null);
    }
    if (bytes === 0 && limitBytes() < MIN_COALESCED_BYTES) return push(record);
    if (bytes === 0) setImmediate(flush);
    records.push(record);
    bytes += record.length;
    if (record.length < MAX_RECORD_BYTES) flush();
    return bytes + socket.readableLength < limitBytes();
  };
}

function joinRecords(records: readonly Buffer[], bytes: number): Buffer {
  const [first] = records;
  if (records.length === 1 && first) return first;
  const chunk = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const record of records) {
    chunk.set(record, at);
    at += record.length;
    releaseBuffer(record);
  }
  return chunk;
}
