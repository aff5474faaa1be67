import { lookup as systemLookup } from 'node:dns/promises';
import { createConnection, isIP, type LookupFunction, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type AddressGuard, bareHost, type Destination, isLiteral } from './address-guard.ts';
import { EgressRefused, UpstreamError } from './errors.ts';

/** An address of a host; `family` is 4 or 6. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses. Rejects with a `code` as `dns.lookup` does. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Opens connections to the addresses that the guard has admitted, without a second lookup in between. */
export interface Dialer {
  /**
   * The admitted addresses of a destination, at least one.
   * @throws EgressRefused if the guard admits none or the name has none
   * @throws UpstreamError if the lookup fails
   */
  resolve(destination: Destination): Promise<readonly ResolvedAddress[]>;
  /**
   * Opens a TCP connection.
   * @param sourceAddress to connect from, where the destination has an address of its family
   * @throws EgressRefused, UpstreamError
   */
  connect(destination: Destination, sourceAddress?: string): Promise<Socket>;
}

/** Options of `createDialer`. */
export interface DialerOptions {
  readonly guard: AddressGuard;
  /** @default the system's resolver */
  readonly lookup?: Lookup | undefined;
  /** For the lookup, and again for the connection. @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

/** Error codes for a name that does not exist. Any other code is a failed lookup. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA', 'EINVAL', 'ERR_INVALID_ARG_VALUE']);

/** Creates a dialer that connects only to addresses that the guard admits. */
export function createDialer({ guard, lookup = lookupAll, timeoutMs = 10_000 }: DialerOptions): Dialer {
  const resolve = async (destination: Destination) => {
    const host = bareHost(destination.hostname);
    if (!guard.admitsHost(destination)) {
      const reason = isLiteral(host) ? 'private-address' : 'unknown-host';
      throw new EgressRefused('Host is not on the public internet', { reason });
    }
    const all = isLiteral(host)
      ? [{ address: host, family: isIP(host) }]
      : await withTimeout(timeoutMs, lookup(host)).catch((cause: unknown) => {
          if (NO_SUCH_NAME.has(codeOf(cause))) throw new EgressRefused('Host name has no address', { cause });
          throw new UpstreamError('DNS lookup failed', { cause });
        });
    const admitted = all.filter(({ address }) => guard.admitsAddress(address, destination));
    if (admitted.length === 0) throw new EgressRefused('Host name has no address on the public internet');
    return admitted;
  };

  const connect = async (destination: Destination, sourceAddress?: string) => {
    const all = await resolve(destination);
    const sameFamily = sourceAddress ? all.filter(({ family }) => family === isIP(sourceAddress)) : [];
    const isBound = sameFamily.length > 0;
    return openSocket(
      {
        host: bareHost(destination.hostname),
        port: destination.port,
        lookup: pinnedLookup(isBound ? sameFamily : all),
        ...(isBound && { localAddress: sourceAddress }),
      },
      timeoutMs,
    );
  };

  return { resolve, connect };
}

/** A lookup function that returns addresses already checked, which prevents DNS rebinding between check and connection. */
export const pinnedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    if (all) return callback(null, [...addresses]);
    const [first] = addresses;
    callback(null, first?.address ?? '', first?.family);
  };

const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true });

function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Error('DNS lookup timed out')), timeoutMs);
  work.then(resolve, reject);
  return promise.finally(() => clearTimeout(timer));
}

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException | undefined)?.code);

/** Bytes per socket read. Large reads cost less per byte; each paused client retains one. */
const MAX_READ_BYTES = 256 * 1024;
const MIN_READ_BYTES = 64 * 1024;
/** Total of one read per open socket, which MIN_READ_BYTES may exceed. */
const TOTAL_READ_BYTES = 16 * 1024 * 1024;

/** Receives the bytes of every socket, one read at a time. Each read is copied into a buffer of its exact size. */
const sharedReadBuffer = Buffer.allocUnsafeSlow(MAX_READ_BYTES);
const openSockets = new Set<Socket>();
/** What sockets had received when they closed. */
let closedSocketsBytes = 0;

/** Missing in the types of `createConnection`. */
const UNBUFFERED = { readableHighWaterMark: 0 };

/** Bytes that one socket may buffer while the present number is open. */
export const readBufferShareBytes = (): number => Math.min(TOTAL_READ_BYTES / openSockets.size, MAX_READ_BYTES);

/** Bytes that this process has received on outgoing connections, TLS and headers included. */
export const receivedBytes = (): number =>
  [...openSockets].reduce((sum, { bytesRead }) => sum + bytesRead, closedSocketsBytes);

const readBuffer = (): Uint8Array => sharedReadBuffer.subarray(0, Math.max(readBufferShareBytes(), MIN_READ_BYTES));

/**
 * Opens a TCP connection. Unread bytes stay in the kernel's receive buffer, so that a thousand idle sockets occupy no memory
 * here. Every chunk has a buffer of its own, which its consumer may release.
 *
 * @throws UpstreamError if no connection is open after `timeoutMs`
 */
export function openSocket(
  target: {
    readonly host: string;
    readonly port: number;
    readonly lookup: LookupFunction;
    /** The source address. Of several addresses of the host, only the first is then tried. */
    readonly localAddress?: string | undefined;
  },
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection({
      ...target,
      ...UNBUFFERED,
      onread: { buffer: readBuffer, callback: (length, buffer) => socket.push(copyBytes(buffer.subarray(0, length))) },
      autoSelectFamily: true,
      noDelay: true,
      keepAlive: true,
    });
    openSockets.add(socket);
    // With `onread`, Socket's own `read` starts reading from the kernel on every call: one more chunk per socket.
    Object.assign(socket, { read: Readable.prototype.read });
    const timer = setTimeout(() => socket.destroy(new Error('Connection timed out')), timeoutMs);
    const fail = (cause: Error) => {
      clearTimeout(timer);
      reject(new UpstreamError('Connection failed', { cause }));
    };
    socket.once('close', () => {
      openSockets.delete(socket);
      closedSocketsBytes += socket.bytesRead;
    });
    // Stays for the life of the socket, which may fail before its user has listeners.
    socket.on('error', fail).once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

/** Copies bytes into a buffer that shares no memory. */
export function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * Frees the memory of a chunk that is no longer read, unless other chunks share it. The garbage collector frees external
 * memory late, and much of it triggers frequent collections.
 */
export function releaseBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
