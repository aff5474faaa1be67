import { describe, expect, it } from 'vitest';
import type { Pointer } from '../../../lambdas/tools-update/archive.ts';
import type { LayerVersion } from '../../../lambdas/tools-update/layers.ts';
import {
  archiveKey,
  describeLayer,
  findInUse,
  getAgeInHours,
  listPublished,
  planPruning,
  replaceLayer,
  selectRelease,
} from '../../../lambdas/tools-update/plan.ts';

const ASSET = 'yt-dlp_linux.zip';
const SHA = 'ab'.repeat(32);
const arn = (number: number, name = 'tools') => `arn:aws:lambda:eu-west-1:1:layer:${name}:${number}`;
const layer = (number: number, version: string, asset = ASSET): LayerVersion => ({
  arn: arn(number),
  number,
  description: describeLayer(version, asset, SHA),
});
const pointerTo = (number: number, version: string, asset = ASSET): Pointer => ({
  version,
  key: archiveKey(version, asset),
  sha256: SHA,
  bytes: 1,
  layerVersionArn: arn(number),
  publishedAt: 1,
});

describe('replaceLayer', () => {
  const [other, third] = [arn(7, 'insights'), arn(1, 'tools-of-another')];
  it.each([
    ['nothing', [], [arn(2)]],
    ['only ours', [arn(1)], [arn(2)]],
    ['others', [other, third], [other, third, arn(2)]],
    ['ours among others', [other, arn(1), third], [other, arn(2), third]],
    ['what is attached already', [other, arn(2)], [other, arn(2)]],
  ])('with %s', (_, layers, expected) => {
    expect(replaceLayer(layers, arn(2))).toEqual(expected);
  });
});

describe('listPublished', () => {
  it('reads the releases of layer versions', () => {
    const versions = [layer(2, '2026.11.20'), layer(1, '2026.8.19')];
    expect(listPublished(versions, ASSET)).toEqual([
      { ...versions[0], version: '2026.11.20', sha256: SHA },
      { ...versions[1], version: '2026.8.19', sha256: SHA },
    ]);
  });

  it('leaves out layers for other architectures and with other descriptions', () => {
    const versions = [
      layer(1, '2026.11.20', 'yt-dlp_linux_aarch64.zip'),
      { ...layer(2, '2026.11.20'), description: '' },
      { ...layer(3, '2026.11.20'), description: 'yt-dlp 2026.11.20' },
      layer(4, '../2026.11.20'),
    ];
    expect(listPublished(versions, ASSET)).toEqual([]);
  });
});

describe('findInUse', () => {
  const versions = [layer(1, '2026.11.20')];
  it('returns the release that the pointer names', () => {
    expect(findInUse(pointerTo(1, '2026.11.20'), versions, ASSET)?.version).toBe('2026.11.20');
  });
  it.each([
    ['there is no pointer', undefined],
    ['its layer version is deleted', pointerTo(2, '2026.11.20')],
    ['it is for another architecture', pointerTo(1, '2026.11.20', 'yt-dlp_linux_aarch64.zip')],
  ])('returns undefined when %s', (_, pointer) => expect(findInUse(pointer, versions, ASSET)).toBeUndefined());
});

describe('selectRelease', () => {
  const [early, late] = ['2026.11.01', '2026.11.20'];
  it.each([
    ['the newest, at the start', late, [], undefined, late],
    ['the newest, when it is newer than the one in use', late, [early], early, late],
    ['nothing, when the newest is in use', late, [late], late, undefined],
    ['nothing, when the newest is older than the one in use', early, [late], late, undefined],
    ['what an earlier run has published, when the newest is unknown', undefined, [late, early], early, late],
    ['the newest, when an earlier run has published an older one', late, [early], undefined, late],
    ['nothing, when nothing is known', undefined, [], undefined, undefined],
  ])('returns %s', (_, newest, published, inUse, expected) => {
    const known = [...(newest ? [newest] : []), ...published];
    expect(selectRelease(known, inUse ? { version: inUse } : undefined)).toBe(expected);
  });
});

describe('planPruning', () => {
  const key = (version: string) => archiveKey(version, ASSET);
  const days = ['01', '02', '03', '04', '05'].map((day) => `2026.11.${day}`);
  const versions = days.map((version, index) => layer(index + 1, version));
  const removed = (inUse: Pointer, more: readonly LayerVersion[] = [], keys = days.map(key)) => {
    const old = planPruning([...versions, ...more], keys, inUse);
    return { layers: old.layers.map(({ number }) => number), keys: old.keys };
  };
  const inUse = { ...pointerTo(4, '2026.11.04'), previous: pointerTo(3, '2026.11.03') };

  it('keeps the release in use and the one before it, and removes newer ones, which did not work', () => {
    expect(removed(inUse)).toEqual({ layers: [1, 2, 5], keys: ['01', '02', '05'].map((day) => key(`2026.11.${day}`)) });
  });

  it('keeps the release in use alone when there was none before it', () => {
    expect(removed(pointerTo(4, '2026.11.04')).layers).toEqual([1, 2, 3, 5]);
  });

  it('removes duplicates, layers for other architectures and unknown keys', () => {
    const more = [layer(6, '2026.11.04'), layer(7, '2026.11.04', 'other.zip'), { ...layer(8, 'x'), description: '' }];
    const keys = [key('2026.11.04'), archiveKey('2026.11.04', 'other.zip'), 'releases/stray'];
    expect(removed(inUse, more, keys)).toEqual({ layers: [1, 2, 5, 6, 7, 8], keys: keys.slice(1) });
  });
});

describe('getAgeInHours', () => {
  it.each([
    ['2026.11.20', 24],
    ['2026.11.20.123456', 24],
    ['2026.8.19', 2256],
    ['2026.12.01', 0],
  ])('returns the age of %s', (version, hours) => expect(getAgeInHours(version, Date.UTC(2026, 10, 21))).toBe(hours));
});
