import { describe, expect, it } from 'vitest';
import { NotDeliverable, NotFound } from '../../../core/errors/index.ts';
import type { Resolved } from '../../../core/resolve/index.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { archivedList, expectSized, refusalOf, trackOf } from '../fixture.ts';
import { BYTES_PER_ENTRY, extract, startArchive as start, THREE } from './archive-fixture.ts';

describe('entries that cannot be opened', () => {
  const dead: OpenSource = async () => {
    throw new NotFound('gone');
  };

  it('are named in the index with the reason, and the others keep their numbers', async () => {
    const { take } = await start([{ isUnsized: true, source: dead }, {}, { resource: { isLive: true } }]);
    const { names, index } = await take();
    expect(names).toEqual([THREE[1], 'A list/index.txt']);
    expect(index).toContain('\n1 of 3. Missing: 1, 3.\n');
    expect(index).toContain('1. Title 0\n   https://site.example/0\n   MISSING: Resource Not Found');
    expect(index).toContain('MISSING: Unsupported Media Type. The entry is live and has no end.');
  });

  it('fail the request when there is no other', async () => {
    const { get } = await start([
      { isUnsized: true, source: dead },
      { isUnsized: true, source: dead },
    ]);
    expect((await get()).status).toBe(404);
  });

  it('fail the request with the reason when all are live', async () => {
    const { url } = await start([{ resource: { isLive: true } }, { resource: { isLive: true } }]);
    expect(await refusalOf(url())).toEqual([415, 'The entry is live and has no end.']);
  });

  it('are missing without the language that is asked for, with the languages that they have', async () => {
    const spoken = ['en-US', 'de'].map((language, index) => ({
      resource: {
        tracks: [trackOf(`file-${index}`, { language, sizeIsExact: true, sizeBytes: BYTES_PER_ENTRY })] as const,
      },
    }));
    const { take } = await start(spoken);
    const { names, index } = await take('?audio=en');
    expect(names).toEqual([THREE[0], 'A list/index.txt']);
    expect(index).toContain('MISSING: Bad Request. No audio in en. Available: de.');
  });

  it('are missing when the list has none of the quality, with a length', async () => {
    const { url } = await start([{}, { resource: { renditions: [] } }]);
    expect((await extract(await expectSized(url()))).index).toContain('\n1 of 2. Missing: 2.\n');
  });
});

describe('entries that are not stored', () => {
  it('are resolved when it is their turn, for the same client', async () => {
    const asked: string[] = [];
    const { get, resources } = await start([{}, { isUnstored: true }, {}], {
      resolve: async (link, { client }) => {
        asked.push(`${link} ${client}`);
        return { type: 'Media', resource: resources[1] } as Resolved;
      },
    });
    const { headers, body } = await get();
    expect(headers['content-length']).toBeUndefined();
    expect((await extract(body)).names).toEqual([...THREE, 'A list/index.txt']);
    expect(asked).toEqual(['https://site.example/1 127.0.0.1']);
  });

  it.each<[string, Resolved | Error, string]>([
    [
      'a list',
      { type: 'PlayList', title: null, author: null, coverUrl: null, items: [] },
      'The entry is a list itself.',
    ],
    ['protected', new NotDeliverable('DRM protected.'), 'Unsupported Media Type. DRM protected.'],
  ])('are missing when they are %s', async (_name, outcome, reason) => {
    const { take } = await start([{}, { isUnstored: true }], {
      resolve: async () => {
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    });
    const { index } = await take();
    expect(index).toContain(`MISSING: ${reason.startsWith('The') ? 'Unsupported Media Type. ' : ''}${reason}`);
  });

  it('are missing without a resolve when they are the list that has them', async () => {
    const { take } = await start(
      [{}, { isUnstored: true, entry: { url: archivedList([]).url, resourceId: undefined } }],
      {
        resolve: async () => expect.fail('A list must not wait for itself'),
      },
    );
    const { index } = await take();
    expect(index).toContain('The entry is the list itself.');
  });
});

describe('a list with entries that the source no longer has', () => {
  it('keeps the numbers of the others, names those in the index, and continues by number', async () => {
    const { get, take } = await start([{}, {}, {}], { list: { unavailable: [1, 3, 5], nextOffset: 6 } });
    const { names, index } = await take();
    expect(names.map((name) => name.slice(7, 9))).toEqual(['02', '04', '06', 'in']);
    expect(index).toContain('\n3 of 6. Not available: 1, 3, 5. The list goes on: offset=6 has what follows.\n');
    expect(index).toContain('\n4. 04 - Someone - Title 1.mp4\n');
    const rest = await take('?from=3');
    expect(rest.names.map((name) => name.slice(7, 9))).toEqual(['04', '06', 'in']);
    expect((await get('?from=7')).status).toBe(400);
  });

  it('is numbered by the whole list where it is a later page of it', async () => {
    const list = { offset: 200, unavailable: [202] };
    const { take } = await start([{}, {}], { list });
    const { names, index } = await take();
    expect(names.map((name) => name.slice(7, 10))).toEqual(['201', '203', 'ind']);
    expect(index).toContain('\n2 of 3. Not available: 202.\n');
    expect((await take('?from=203')).names.map((name) => name.slice(7, 10))).toEqual(['203', 'ind']);
  });

  it('has its items resolved with the page of the list that they came with', async () => {
    const { url } = archivedList([]);
    const resolves: unknown[] = [];
    const { take } = await start([{}, { isUnstored: true, entry: { url, resourceId: 'r1'.padEnd(22, '_') } }], {
      list: { offset: 200 },
      resolve: async (link, { offset }) => {
        resolves.push([link, offset]);
        throw new NotFound();
      },
    });
    await take();
    expect(resolves[0]).toEqual([url, 200]);
  });
});

describe('a list of 10,000 entries', () => {
  it('is numbered, indexed and continued like any other', async () => {
    const entry = { title: 'Far', author: null, coverUrl: null };
    const entries = Array.from({ length: 10_000 }, (_, index) => ({
      ...entry,
      url: `https://site.example/${index}`,
      ...(index === 9_999 && { resourceId: 'r0'.padEnd(22, '_') }),
    }));
    const { take } = await start([{}], { list: { entries } });
    const { names, index } = await take('?from=9996');
    expect(names).toEqual(['A list/10000 - Someone - Title 0.mp4', 'A list/index.txt']);
    expect(index).toContain('\n1 of 10000. Selected: 5. Missing: 9996, 9997, 9998, 9999.\n');
  });
});
