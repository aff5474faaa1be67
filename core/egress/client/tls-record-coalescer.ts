import type { Socket } from 'node:net';
import { releaseBuffer } from '../guard/index.ts';

/** Of a TLS record, at most (RFC 8446 §5.1). Who sends a shorter one had no more to send. */
const RECORD_BYTES = 16 * 1024;
/** Four records lie in one read of Node's. With less room than that, each is better passed on as it comes. */
const WORTHWHILE_BYTES = 4 * RECORD_BYTES;

/**
 * Lets a TLS socket give the full records that come within one turn of the event loop as one chunk: each would cost its
 * way through the streams. What comes behind a shorter one, an error too, finds everything before it given.
 *
 * @param most bytes that may wait in it
 */
export function coalesceTlsRecords(socket: Socket, most: () => number): void {
  const push = socket.push.bind(socket);
  let records: Buffer[] = [];
  let bytes = 0;

  const flush = () => {
    if (bytes > 0 && !socket.destroyed) push(joined(records, bytes));
    records = [];
    bytes = 0;
  };
  socket.push = (record: Buffer | null) => {
    if (record === null) {
      flush();
      return push(null);
    }
    if (bytes === 0 && most() < WORTHWHILE_BYTES) return push(record);
    if (bytes === 0) setImmediate(flush);
    records.push(record);
    bytes += record.length;
    if (record.length < RECORD_BYTES) flush();
    return bytes + socket.readableLength < most();
  };
}

function joined(records: readonly Buffer[], bytes: number): Buffer {
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
