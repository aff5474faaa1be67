import { readdir, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { muxNatively } from '../../../../../stream-service/outputs/mux/native/native-muxer.ts';
import type { FileSource } from '../../../../../stream-service/source/source.ts';
import { ensureMedia } from '../../../../origin/media.ts';
import { isCollected } from '../../../../support/collected.ts';

/** A file as a source sends it: its `moov` as one chunk. @param onHeader is called with the memory of that chunk */
async function fragmentedSource(stream: number, onHeader: (memory: ArrayBufferLike) => void): Promise<FileSource> {
  const folder = `${await ensureMedia()}/dash/timeline`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(`chunk-stream${stream}-`)).sort();
  const parts = await Promise.all([`init-stream${stream}.m4s`, ...names].map((name) => readFile(`${folder}/${name}`)));
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  function* chunks(first: number, last: number) {
    let at = 0;
    for (const part of parts) {
      const chunk = Buffer.alloc(part.length, part).subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
      if (at === 0) onHeader(chunk.buffer);
      at += part.length;
      if (chunk.length > 0) yield chunk;
    }
  }
  return {
    ...{ needsRemux: false, isSeekable: true, size, validator: '"entity"' },
    read: (first, last = size - 1) => Readable.from(chunks(first, last), { objectMode: false }),
    close: () => undefined,
  };
}

it('keeps no header of a fragmented file while its fragments are sent', async () => {
  const headers: WeakRef<ArrayBufferLike>[] = [];
  const keep = (memory: ArrayBufferLike) => void headers.push(new WeakRef(memory));
  const stream = await muxNatively(
    [
      { source: await fragmentedSource(0, keep), kind: 'vide', durationSeconds: undefined },
      { source: await fragmentedSource(2, keep), kind: 'soun', durationSeconds: undefined },
    ],
    { signal: new AbortController().signal },
  );
  onTestFinished(() => void stream.destroy());
  for (let bytes = 0; bytes < 300_000; ) {
    const chunk = stream.read() as Buffer | null;
    if (chunk) bytes += chunk.length;
    else await new Promise((resolve) => stream.once('readable', resolve));
  }
  expect(stream.readableEnded).toBe(false);
  expect(headers).toHaveLength(2);
  for (const header of headers) expect(await isCollected(header)).toBe(true);
});
