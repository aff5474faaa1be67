import { describe, expect, it } from 'vitest';
import {
  archiveKey,
  describeLayer,
  findInUse,
  getAgeInHours,
  listPublished,
  type PruningOptions,
  planPruning,
} from '../../../lambdas/tools-update/plan.ts';
import type { LayerVersion, Pointer } from '../../../lambdas/tools-update/types.ts';

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

describe('listPublished', () => {
  it('sorts by release, then by layer version, newest first', () => {
    const versions = [layer(4, '2026.11.01'), layer(3, '2026.11.20'), layer(2, '2026.8.19'), layer(1, '2026.11.20')];
    expect(listPublished(versions, ASSET).map(({ number }) => number)).toEqual([3, 1, 4, 2]);
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

describe('planPruning', () => {
  const key = (version: string) => archiveKey(version, ASSET);
  const days = ['01', '02', '03', '04', '05'].map((day) => `2026.11.${day}`);
  const versions = days.map((version, index) => layer(index + 1, version));

  const prune = (options: Omit<PruningOptions, 'asset' | 'deployed'> & { deployed?: string[] }) =>
    planPruning({ asset: ASSET, deployed: [], ...options });

  it('keeps the release in use and the two before it', () => {
    const { layers, keys } = prune({ versions, keys: days.map(key), inUse: pointerTo(5, '2026.11.05') });
    expect(layers).toEqual([1, 2]);
    expect(keys).toEqual(days.slice(0, 2).map(key));
  });

  it('removes newer releases than the one in use, which did not work', () => {
    const { layers, keys } = prune({ versions, keys: days.map(key), inUse: pointerTo(4, '2026.11.04') });
    expect(layers).toEqual([1, 5]);
    expect(keys).toEqual([key('2026.11.01'), key('2026.11.05')]);
  });

  it('removes duplicates, layers for other architectures and unknown keys', () => {
    const more = [layer(6, '2026.11.05'), layer(7, '2026.11.04', 'other.zip'), { ...layer(8, 'x'), description: '' }];
    const keys = [key('2026.11.05'), archiveKey('2026.11.04', 'other.zip'), 'releases/stray'];
    const old = prune({ versions: [...versions.slice(3), ...more], keys, inUse: pointerTo(5, '2026.11.05') });
    expect(old).toEqual({ layers: [6, 7, 8], keys: keys.slice(1) });
  });

  it('keeps deployed layer versions but not their archives', () => {
    const arn = layer(1, '2026.11.01').arn;
    const { layers, keys } = prune({
      versions,
      keys: days.map(key),
      inUse: pointerTo(5, '2026.11.05'),
      deployed: [arn, 'gone'],
    });
    expect(layers).toEqual([2]);
    expect(keys).toEqual(days.slice(0, 2).map(key));
  });

  it('keeps keys that are not archives', () => {
    expect(prune({ versions, keys: ['current.json'], inUse: pointerTo(5, '2026.11.05') }).keys).toEqual([]);
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
