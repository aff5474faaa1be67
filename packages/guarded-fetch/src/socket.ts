import { createConnection, type LookupFunction, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { UpstreamError } from './errors.ts';

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
