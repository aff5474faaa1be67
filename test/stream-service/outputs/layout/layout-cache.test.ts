import { readFile } from 'node:fs/promises';
import { nameOf } from '@reelay/source/names';
import { describe, expect, it } from 'vitest';
import { NotFound } from '../../../../core/errors/index.ts';
import type { KeyedRendition } from '../../../../core/state/keys.ts';
import { UnsupportedMp4 } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { type Layout, LayoutBuilder } from '../../../../packages/seekable-media/src/virtual-mp4/layout.ts';
import { createLayoutCaches } from '../../../../stream-service/outputs/layout/layout-caches.ts';
import type { LayoutMaking } from '../../../../stream-service/outputs/layout/read-layout.ts';
import type { StreamSession } from '../../../../stream-service/sessions/stream-sessions.ts';
import type { OpenSource } from '../../../../stream-service/source/open-source.ts';
import { ensureMedia } from '../../../origin/media.ts';
import { isCollected } from '../../../support/collected.ts';
import { trackOf } from '../../fixture.ts';
import { fileSource } from '../encode/mp3/fixture.ts';

const file = await readFile(`${await ensureMedia()}/tone.m4a`);
const layout = (): Layout => {
  const builder = new LayoutBuilder();
  builder.addOwn(Buffer.alloc(100));
  return builder.build();
};

type LayOut = LayoutMaking['layOut'];
const session = { client: '', signal: new AbortController().signal } as StreamSession;
const foundAnew = () => ({ tracks: [trackOf('a')], resource: {} }) as unknown as KeyedRendition;
const requestOf = (found: KeyedRendition) => ({ of: 'pair', id: nameOf([], 'a'), found }) as const;
const openAnew = (): OpenSource => async () => fileSource(Buffer.from(file));

function refuse(): never {
  throw new UnsupportedMp4('No layout');
}

/** Loads one layout. @returns what its request, the opened file and its header are no longer needed for */
async function load(layOut: LayOut) {
  const kept: Record<string, WeakRef<object>> = {};
  const making: LayoutMaking = {
    layOut(files, ...rest) {
      for (const { header } of files) kept.moov = new WeakRef(header.movie.bytes.buffer);
      return layOut(files, ...rest);
    },
  };
  const cache = createLayoutCaches({ kinds: { pair: making, part: making, list: making, presentation: making } });
  const loadOnce = async () => {
    const [found, openSource] = [foundAnew(), openAnew()];
    kept.found ??= new WeakRef(found);
    kept.open ??= new WeakRef(openSource);
    return cache.load(requestOf(found), { session, openSource, isForHead: false });
  };
  return { known: await loadOnce(), again: await loadOnce(), kept };
}

describe('createLayoutCaches', () => {
  it.each<[string, LayOut]>([
    ['a layout', () => layout()],
    ['the knowledge that there is none', refuse],
  ])('keeps %s, and nothing that it was made from', async (_, layOut) => {
    const { known, again, kept } = await load(layOut);
    expect(again).toBe(known);
    expect(Object.keys(kept)).toEqual(['found', 'open', 'moov']);
    for (const [name, reference] of Object.entries(kept))
      expect([name, await isCollected(reference)]).toEqual([name, true]);
  });

  it('reads the headers for GET although HEAD, which does not resolve again, fails in the meantime', async () => {
    const cache = createLayoutCaches();
    const request = requestOf(foundAnew());
    const expired = Promise.withResolvers<never>();
    const head = cache.load(request, { session, openSource: () => expired.promise, isForHead: true });
    const get = cache.load(request, { session, openSource: openAnew(), isForHead: false });
    expired.reject(new NotFound('The URL has expired'));
    await expect(head).rejects.toThrow('expired');
    expect(await get).toBeInstanceOf(UnsupportedMp4);
  });
});
