import { compareVersions, isReleaseTag } from '../../layers/tools/index.ts';
import type { LayerVersion, Pointer } from './types.ts';

/** Versions kept in all: the one in use, and those to go back to. */
const KEPT = 3;
const PREFIX = 'releases/';
const DESCRIPTION = /^yt-dlp (\S+) of (\S+) sha256 ([0-9a-f]{64})$/;

/** A published version of our asset that has what it takes to be used. */
export interface Published extends LayerVersion {
  /** Of yt-dlp. */
  readonly version: string;
  readonly sha256: string;
}

/** Where the archive of a release is kept. */
export const archiveKey = (version: string, asset: string): string => `${PREFIX}${version}/${asset}`;

/** What tells, of a layer version, what is in it. */
export const describeLayer = (version: string, asset: string, sha256: string): string =>
  `yt-dlp ${version} of ${asset} sha256 ${sha256}`;

/** The versions that carry this asset, the newest release first; of one release the version that was published last. */
export function publishedOf(versions: readonly LayerVersion[], asset: string): Published[] {
  return versions
    .flatMap((layer) => {
      const [, version, of, sha256] = DESCRIPTION.exec(layer.description) ?? [];
      return version && sha256 && of === asset && isReleaseTag(version) ? [{ ...layer, version, sha256 }] : [];
    })
    .sort((a, b) => compareVersions(b.version, a.version) || b.number - a.number);
}

/**
 * The release in use: what the pointer names, as long as its layer version exists and is for this processor.
 */
export const releaseInUse = (
  pointer: Pointer | undefined,
  versions: readonly LayerVersion[],
  asset: string,
): Pointer | undefined =>
  pointer?.key === archiveKey(pointer?.version ?? '', asset) &&
  versions.some(({ arn }) => arn === pointer.layerVersionArn)
    ? pointer
    : undefined;

/**
 * The release to go to, if it is newer than the one in use: the newest there is, or one that an update before this one
 * has published and not finished, also when nobody can be asked for the newest.
 */
export function releaseToTry(
  newest: string | undefined,
  published: readonly Published[],
  inUse: Pick<Pointer, 'version'> | undefined,
): string | undefined {
  const [best] = [newest, published[0]?.version]
    .filter((version) => version !== undefined)
    .sort((a, b) => compareVersions(b, a));
  if (best === undefined || (inUse && compareVersions(best, inUse.version) <= 0)) return undefined;
  return best;
}

/** Whose version an ARN names: `arn:aws:lambda:eu-west-1:1:layer:NAME`. */
const layerOf = (versionArn: string): string => versionArn.replace(/:\d+$/, '');

/** The layers of a function with this version in the place of any other of ours, and all others where they were. */
export function replaceLayer(layers: readonly string[], arn: string, placeholder?: string): string[] {
  const ours = new Set([arn, ...(placeholder ? [placeholder] : [])].map(layerOf));
  const index = layers.findIndex((layer) => ours.has(layerOf(layer)));
  const others = layers.filter((layer) => !ours.has(layerOf(layer)));
  // None of ours before it stands before the new one: others ahead of ours stay ahead.
  return index < 0 ? [...others, arn] : others.toSpliced(index, 0, arn);
}

/**
 * What is no longer needed: layer versions by their numbers, archives by their keys.
 * @param deployed layer versions that CloudFormation may put on again, when it rolls back: their ARNs
 */
export function planPruning(
  versions: readonly LayerVersion[],
  keys: readonly string[],
  inUse: Pointer,
  asset: string,
  deployed: readonly string[],
): { readonly layers: number[]; readonly keys: string[] } {
  const others = publishedOf(versions, asset).filter(({ arn, version }, index, all) => {
    const isFirstOfIts = all.findIndex((other) => other.version === version) === index;
    return arn !== inUse.layerVersionArn && version !== inUse.version && isFirstOfIts;
  });
  // What is newer than the release in use was found wanting, or is about to be used: not one to go back to.
  const older = others.filter(({ version }) => compareVersions(version, inUse.version) < 0).slice(0, KEPT - 1);
  const keptArns = new Set([inUse.layerVersionArn, ...older.map(({ arn }) => arn), ...deployed]);
  const keptKeys = new Set([inUse.key, ...older.map(({ version }) => archiveKey(version, asset))]);
  return {
    layers: versions.filter(({ arn }) => !keptArns.has(arn)).map(({ number }) => number),
    keys: keys.filter((key) => key.startsWith(PREFIX) && !keptKeys.has(key)),
  };
}

/** Hours since a release, by the date that its tag is. */
export function ageInHours(version: string, now: number): number {
  const [year = 0, month = 1, day = 1] = version.split('.').map(Number);
  return Math.max(0, Math.floor((now - Date.UTC(year, month - 1, day)) / 3_600_000));
}
