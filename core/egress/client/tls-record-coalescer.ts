import type { Socket } from 'node:net';
import { releaseBuffer } from '../guard/index.ts';

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
