import { compareVersions, isReleaseTag } from '@reelay/yt-dlp-worker';
import type { LayerVersion, Pointer } from './types.ts';

/** The release in use, and two for a rollback. */
const MAX_RELEASES = 3;
const PREFIX = 'releases/';
const DESCRIPTION = /^yt-dlp (\S+) of (\S+) sha256 ([0-9a-f]{64})$/;

/** A layer version with a release for our architecture. */
export interface Published extends LayerVersion {
  /** The version of yt-dlp. */
  readonly version: string;
  readonly sha256: string;
}

/** Key of the archive of a release in the bucket. */
export const archiveKey = (version: string, asset: string): string => `${PREFIX}${version}/${asset}`;

/** Description of a layer version, from which `listPublished` reads its content. */
export const describeLayer = (version: string, asset: string, sha256: string): string =>
  `yt-dlp ${version} of ${asset} sha256 ${sha256}`;

/** Lists the versions that carry this asset, the newest release first; of one release the version that was published last. */
export function listPublished(versions: readonly LayerVersion[], asset: string): Published[] {
  return versions
    .flatMap((layer) => {
      const [, version, of, sha256] = DESCRIPTION.exec(layer.description) ?? [];
      return version && sha256 && of === asset && isReleaseTag(version) ? [{ ...layer, version, sha256 }] : [];
    })
    .sort((a, b) => compareVersions(b.version, a.version) || b.number - a.number);
}

/** Finds the release in use: that of the pointer, if its layer version exists and is for this architecture. */
export const findInUse = (
  pointer: Pointer | undefined,
  versions: readonly LayerVersion[],
  asset: string,
): Pointer | undefined =>
  pointer?.key === archiveKey(pointer?.version ?? '', asset) &&
  versions.some(({ arn }) => arn === pointer.layerVersionArn)
    ? pointer
    : undefined;

/** Keeps the release in use in the pointer to the next one, for a rollback. */
export function keepPrevious(inUse: Pointer | undefined, next: Pointer): Pointer {
  if (!inUse) return next;
  const { previous: _, refused, ...previous } = inUse;
  return { ...next, previous, refused };
}

/**
 * Selects the release to switch to, if it is newer than the one in use: the newest, or one that an unfinished update has published
 * (also when the newest is unknown). Releases that were rolled back are excluded.
 */
export function selectRelease(
  newest: string | undefined,
  published: readonly Published[],
  inUse: Pick<Pointer, 'version' | 'refused'> | undefined,
): string | undefined {
  const [best] = [newest, ...published.map(({ version }) => version)]
    .filter((version) => version !== undefined)
    .filter((version) => !inUse?.refused?.includes(version))
    .sort((a, b) => compareVersions(b, a));
  if (best === undefined || (inUse && compareVersions(best, inUse.version) <= 0)) return undefined;
  return best;
}

/** The layer of a version ARN: `arn:aws:lambda:eu-west-1:1:layer:NAME`. */
const layerOf = (versionArn: string): string => versionArn.replace(/:\d+$/, '');

/** Replaces our layer in the layers of a function, or adds it. The others keep their positions. */
export function replaceLayer(layers: readonly string[], arn: string): string[] {
  const ours = layerOf(arn);
  const index = layers.findIndex((layer) => layerOf(layer) === ours);
  const others = layers.filter((layer) => layerOf(layer) !== ours);
  return index < 0 ? [...others, arn] : others.toSpliced(index, 0, arn);
}

export interface PruningOptions {
  readonly versions: readonly LayerVersion[];
  /** The keys of all archives. */
  readonly keys: readonly string[];
  readonly inUse: Pointer;
  readonly asset: string;
  /** ARNs of layer versions that CloudFormation may attach again in a rollback. */
  readonly deployed: readonly string[];
}

/** Selects what to remove: layer versions by number, archives by key. */
export function planPruning(options: PruningOptions): { readonly layers: number[]; readonly keys: string[] } {
  const { versions, keys, inUse, asset, deployed } = options;
  const others = listPublished(versions, asset).filter(({ arn, version }, index, all) => {
    const isFirstOfIts = all.findIndex((other) => other.version === version) === index;
    return arn !== inUse.layerVersionArn && version !== inUse.version && isFirstOfIts;
  });
  // Newer ones are removed: they failed their test, or are not in use yet.
  const older = others.filter(({ version }) => compareVersions(version, inUse.version) < 0).slice(0, MAX_RELEASES - 1);
  const keptArns = new Set([inUse.layerVersionArn, ...older.map(({ arn }) => arn), ...deployed]);
  const keptKeys = new Set([inUse.key, ...older.map(({ version }) => archiveKey(version, asset))]);
  return {
    layers: versions.filter(({ arn }) => !keptArns.has(arn)).map(({ number }) => number),
    keys: keys.filter((key) => key.startsWith(PREFIX) && !keptKeys.has(key)),
  };
}

/** Hours since a release, by the date in its tag. @param now epoch milliseconds */
export function getAgeInHours(version: string, now: number): number {
  const [year = 0, month = 1, day = 1] = version.split('.').map(Number);
  return Math.max(0, Math.floor((now - Date.UTC(year, month - 1, day)) / 3_600_000));
}

/** Why a program is not the release that it was published as: the signature does not cover the tag. */
export const describeMismatch = (reported: string, version: string): string | undefined =>
  compareVersions(reported, version) === 0 ? undefined : `it reports version ${reported.slice(0, 40)}`;
