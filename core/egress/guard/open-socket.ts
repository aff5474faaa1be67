import { createConnection, type LookupFunction, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { UpstreamError } from '../../errors/index.ts';
import { copyBytes } from './chunk-memory.ts';

/** Bytes read from a socket at once. Each read costs its way through the streams, each resting client holds one. */
const MOST_READ_BYTES = 256 * 1024;
const LEAST_READ_BYTES = 64 * 1024;
/** One read of every open socket, as long as each may read the least. */
const READ_BYTES_IN_ALL = 16 * 1024 * 1024;

/** Where the bytes of every socket arrive, one read at a time. They are copied into as much memory as they need. */
const arrivals = Buffer.allocUnsafeSlow(MOST_READ_BYTES);
let openSockets = 0;

/** What the types of `createConnection` leave out. */
const UNBUFFERED = { readableHighWaterMark: 0 };

/** Bytes that one of the sockets open now may hold. */
export const readBufferShareBytes = (): number => Math.min(READ_BYTES_IN_ALL / openSockets, MOST_READ_BYTES);

const roomToRead = (): Uint8Array => arrivals.subarray(0, Math.max(readBufferShareBytes(), LEAST_READ_BYTES));

/**
 * Opens a TCP connection, at most `timeout` milliseconds long. What nobody reads stays with the system: a thousand
 * sockets hold nothing here. Every chunk has memory of its own, which whoever takes it may give back.
 *
 * @throws UpstreamError
 */
export function openSocket(
  target: { readonly host: string; readonly port: number; readonly lookup: LookupFunction },
  timeout: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection({
      ...target,
      ...UNBUFFERED,
      onread: { buffer: roomToRead, callback: (bytes, room) => socket.push(copyBytes(room.subarray(0, bytes))) },
      autoSelectFamily: true,
      noDelay: true,
      keepAlive: true,
    });
    openSockets += 1;
    // With `onread`, a socket would begin to read whenever it is asked for what it holds: a chunk more for each.
    Object.assign(socket, { read: Readable.prototype.read });
    const timer = setTimeout(() => socket.destroy(new Error('connect timed out')), timeout);
    const fail = (cause: Error) => {
      clearTimeout(timer);
      reject(new UpstreamError('The host could not be connected to', { cause }));
    };
    socket.once('close', () => {
      openSockets -= 1;
    });
    socket.once('error', fail).once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
