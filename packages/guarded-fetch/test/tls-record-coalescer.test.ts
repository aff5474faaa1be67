import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { coalesceTlsRecords } from '../src/dispatchers.ts';
import { certificate } from './certificate.ts';
import { serveTls } from './servers.ts';

const RECORD = 16 * 1024;
const MOST = 256 * 1024;
const record = (bytes: number, value: number) => Buffer.alloc(bytes, value);

/** A socket without a connection. */
function idle(most = MOST): Socket {
  const socket = new Socket();
  coalesceTlsRecords(socket, () => most);
  return socket;
}

describe('coalesceTlsRecords', () => {
  it('emits the full records of one event loop turn as one chunk with a buffer of its own', async () => {
    const socket = idle();
    const records = [record(RECORD, 1), record(RECORD, 2), record(RECORD, 3)];
    const whole = Buffer.concat(records);
    for (const each of records) expect(socket.push(each)).toBe(true);
    expect(socket.readableLength).toBe(0);
    await turn();
    const chunk: Buffer = socket.read();
    expect(chunk.equals(whole)).toBe(true);
    expect(chunk.buffer.byteLength).toBe(chunk.length);
    // The buffers of the records are released.
    expect(records.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0, 0]);
  });

  it('flushes after a short record and before the end', async () => {
    const socket = idle();
    socket.push(record(RECORD, 1));
    socket.push(record(10, 2));
    expect(socket.readableLength).toBe(RECORD + 10);
    socket.push(record(RECORD, 3));
    socket.push(null);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    const whole = [record(RECORD, 1), record(10, 2), record(RECORD, 3)];
    expect(Buffer.concat(chunks).equals(Buffer.concat(whole))).toBe(true);
  });

  it('applies backpressure at its limit', async () => {
    const socket = idle(4 * RECORD);
    for (const value of [1, 2, 3]) expect(socket.push(record(RECORD, value))).toBe(true);
    expect(socket.push(record(RECORD, 4))).toBe(false);
    await turn();
    expect(socket.push(record(10, 5))).toBe(false);
    socket.read();
    expect(socket.push(record(10, 6))).toBe(true);
  });

  it('passes on each record below the minimum limit', () => {
    const socket = idle(2 * RECORD);
    socket.push(record(RECORD, 1));
    expect(socket.readableLength).toBe(RECORD);
  });

  it('discards buffered records when the socket is destroyed', async () => {
    const socket = idle();
    socket.push(record(RECORD, 1));
    socket.destroy();
    await turn();
    expect(socket.readableLength).toBe(0);
  });

  it('loses no byte of a TLS stream when the reader pauses', async () => {
    const sent = randomBytes(8 * 1024 * 1024);
    const { port } = await serveTls((_request, response) => void response.end(sent));
    const socket = connect({ host: '127.0.0.1', port, ca: certificate.cert, servername: 'origin.test' });
    await once(socket, 'secureConnect');
    coalesceTlsRecords(socket, () => MOST);
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const chunks: Buffer[] = [];
    let most = 0;
    for await (const chunk of socket) {
      chunks.push(chunk);
      if (chunks.length % 3 === 0) await turn();
      most = Math.max(most, socket.readableLength);
    }
    const all = Buffer.concat(chunks);
    expect(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(sent)).toBe(true);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeGreaterThan(RECORD);
    expect(most).toBeLessThanOrEqual(MOST + 64 * 1024);
  });
});
