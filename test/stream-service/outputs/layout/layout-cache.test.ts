import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { UnsupportedMp4 } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { type Layout, LayoutBuilder } from '../../../../packages/seekable-media/src/virtual-mp4/layout.ts';
import { createLayoutCache } from '../../../../stream-service/outputs/layout/layout-caches.ts';
import type { LayOut, LayoutRequest } from '../../../../stream-service/outputs/layout/read-layout.ts';
import type { Source } from '../../../../stream-service/source/source.ts';
import { ensureMedia } from '../../../origin/media.ts';
import { isCollected } from '../../../support/collected.ts';
import { fileSource } from '../encode/mp3/fixture.ts';

interface Request extends LayoutRequest {
  readonly extras: object;
}

const file = await readFile(`${await ensureMedia()}/tone.m4a`);
const track = { sourceId: 1, id: 1, fragmentDefaults: undefined };
const layout = (): Layout => {
  const builder = new LayoutBuilder();
  builder.addOwn(Buffer.alloc(100));
  return builder.build([track, track]);
};

/** Loads one layout. @returns what its request, the opened file and its header are no longer needed for */
async function load(layOut: LayOut<Request, Layout>) {
  const kept: Record<string, WeakRef<object>> = {};
  const cache = createLayoutCache<Request>({
    maxMemoryBytes: 1e6,
    layOut(files, ...rest) {
      for (const { header } of files) kept.moov = new WeakRef(header.movie.bytes.buffer);
      return layOut(files, ...rest);
    },
  });
  const known = await (async () => {
    const extras = { cues: [] };
    kept.extras = new WeakRef(extras);
    const open = async (): Promise<Source> => fileSource(Buffer.from(file));
    kept.open = new WeakRef(open);
    return cache.load({ id: 'a', sources: [0], extras }, open, { signal: new AbortController().signal });
  })();
  return { cache, known, kept };
}

describe('createLayoutCache', () => {
  it.each<[string, LayOut<Request, Layout>]>([
    ['a layout', () => layout()],
    [
      'the knowledge that there is none',
      (files) =>
        files.map(() => {
          throw new UnsupportedMp4('No layout');
        })[0] as never,
    ],
  ])('keeps %s, and nothing that it was made from', async (_, layOut) => {
    const { cache, known, kept } = await load(layOut);
    expect(cache.get({ id: 'a', sources: [0], extras: {} })).toBe(known);
    expect(Object.keys(kept)).toEqual(['extras', 'open', 'moov']);
    for (const [name, reference] of Object.entries(kept))
      expect([name, await isCollected(reference)]).toEqual([name, true]);
  });
});
