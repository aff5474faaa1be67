import { readFileSync } from 'node:fs';
import { nameOf, type SourceVersion } from '@reelay/source/names';
import { describe, expect, it } from 'vitest';
import { resourceId } from '../../../core/state/keys.ts';
import type { ResourceOrigin, Track } from '../../../core/state/resource.ts';
import { versionOf } from '../../../stream-service/source/open-source.ts';
import { sourceFiles } from '../../structure/import-graph.ts';
import { resourceWith, trackAt } from './upstream.ts';

const expectUnequal = (names: readonly string[]) =>
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);

describe('a name', () => {
  it('differs where anything differs that the bytes of a track of an item follow from', () => {
    const origins: readonly Partial<ResourceOrigin>[] = [
      ...[{}, { url: 'https://site.example/other' }, { url: 'https://site.example/watch?a=1' }],
      ...[{ extractor: 'Other' }, { entryId: '2' }, { list: 'https://site.example/list' }],
    ];
    const resource = resourceWith(trackAt(''), { isLive: true });
    const windowOf = (first: number, last: number, part?: 'content') => ({
      window: { resource, first, last, ...(part && { part }) },
    });
    const tracks: readonly Partial<Track>[] = [
      ...[{ formatId: '1' }, { formatId: '1 2' }, { formatId: '1 2 3' }, { formatId: '"1",2' }],
      ...[
        [1, 2],
        [12, 3],
        [1, 23],
      ].map(([first = 0, last = 0]) => ({ formatId: '1', ...windowOf(first, last) })),
      ...[
        { formatId: '1', ...windowOf(1, 2, 'content') },
        { formatId: '1 2', ...windowOf(2, 3) },
      ],
      ...[{}, { isAudioAlone: true as const }].map((file) => ({ formatId: '1', file })),
    ];
    const sources = [
      undefined,
      ...[10, 1, 101].flatMap((size) => ['0', '01', undefined].map((validator) => ({ size, validator }))),
    ];
    const versions = origins.flatMap((origin) => {
      const id = resourceId({ url: 'https://site.example/watch', extractor: 'Site', entryId: '1', ...origin });
      return tracks.flatMap((track) => sources.map((source) => versionOf({ id }, trackAt('', track), source)));
    });
    expectUnequal(
      versions.flatMap((version) =>
        ['a', 'b'].flatMap((format) => ['', [1, 23], [12, 3]].map((part) => nameOf([version], format, part))),
      ),
    );
  });

  it('is that of a track with an id at any URL, and else of all that selects its bytes', () => {
    const tracks: readonly SourceVersion['track'][] = [
      ...[
        { url: 'a' },
        { url: 'b' },
        { url: 'a', headers: { cookie: '1' } },
        { url: 'a', headers: { authorization: '1' } },
      ],
      ...[
        { url: 'a', cookies: [{ name: 'b', value: 'c', domain: 'd', path: '/', hostOnly: true, secure: false }] },
        { url: 'a', egress: 'proxy' },
      ],
      ...[
        { url: 'a', overrides: { key: '00' } },
        { url: 'a', overrides: { segmentQuery: '00' } },
        { url: 'a', id: 'a' },
      ],
    ];
    expectUnequal(tracks.map((track) => nameOf([{ track }], 'a')));
    expect(nameOf([{ track: { url: 'a', id: '1' } }], 'a')).toBe(
      nameOf([{ track: { url: 'b', id: '1', egress: 'proxy' } }], 'a'),
    );
  });

  it('is what every cache and flight of sources is keyed by', () => {
    const OTHERS = [
      // Keyed by hosts, and by what a single track does.
      ...['read-table.ts: string, Semaphore', 'track-locator.ts: void'],
      // The reports of another service, by the ids of videos.
      ...['sponsorblock.ts: string, readonly SkipSegment[] | UpstreamError', 'sponsorblock.ts: readonly SkipSegment[]'],
    ];
    const found = sourceFiles
      .filter((file) => /^(packages\/source|stream-service)\//.test(file))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/create(?:Cache|SingleFlight)<(.*)>\(/g)].map(
          ([, types = '']) => `${file.replace(/.*\//, '')}: ${types}`,
        ),
      );
    expect(found.filter((each) => !/: Name, |, Name$/.test(each)).toSorted()).toEqual(OTHERS.toSorted());
    expect(found.length).toBeGreaterThan(OTHERS.length + 12);
  });
});
