import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { firstBytes } from '@reelay/source';
import { describe, expect, it } from 'vitest';
import { peekSourceStart } from '../../../../stream-service/outputs/mux/peek-source.ts';
import { segmentsOf } from '../encode/mp3/fixture.ts';

const never = new AbortController().signal;
const ftyp = Buffer.from('0000000c6674797069736f36', 'hex');
const read = async (source: Awaited<ReturnType<typeof peekSourceStart>>['source']) =>
  source.needsRemux ? buffer(source.readAll()) : Buffer.alloc(0);

describe('peekSourceStart', () => {
  it.each([
    ['that say what they are at once', Buffer.concat([Buffer.from('fff15080', 'hex'), Buffer.alloc(300_000, 7)])],
    ['that never say it', Buffer.concat([ftyp, Buffer.alloc(400_000, 7)])],
    ['that end before they say it', ftyp],
  ])('gives every byte of segments %s to the first reader', async (_name, bytes) => {
    for (const size of [1000, 65_536, 262_144]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const late = (async function* () {
        for (const chunk of chunks) yield await new Promise<Buffer>((done) => setImmediate(done, chunk));
      })();
      const stream = Readable.from(late, { objectMode: false });
      // While it is opened: the first bytes have been announced by then.
      await firstBytes(stream);
      const { source } = await peekSourceStart(segmentsOf(stream), never);
      expect((await read(source)).equals(bytes)).toBe(true);
    }
  });

  it('throws the failure of the source, also before its first byte', async () => {
    const dying = Readable.from(
      (async function* () {
        yield ftyp;
        throw new Error('The source died');
      })(),
      { objectMode: false },
    );
    await expect(peekSourceStart(segmentsOf(dying), never)).rejects.toThrow('The source died');
    await expect(peekSourceStart(segmentsOf(Readable.from([])), never)).rejects.toThrow('without a byte');
  });

  it('stops reading on abort and on close', async () => {
    const leaving = new AbortController();
    const stalled = new Readable({ read: () => undefined });
    const looking = peekSourceStart(segmentsOf(stalled), leaving.signal);
    leaving.abort();
    await expect(looking).rejects.toThrow('Aborted');
    expect(stalled.destroyed).toBe(true);

    const waiting = Readable.from([Buffer.from('fff15080', 'hex')], { objectMode: false });
    (await peekSourceStart(segmentsOf(waiting), never)).close();
    expect(waiting.destroyed).toBe(true);
  });
});
