import { compareVersions, isReleaseTag } from '@reelay/yt-dlp-worker';
import type { Pointer } from './archive.ts';
import type { Verdict } from './check-release.ts';
import type { LayerVersion } from './layers.ts';

const DESCRIPTION = /^yt-dlp (\S+) of (\S+) sha256 ([0-9a-f]{64})$/;

/** A layer version with a release for our architecture. */
export interface Published extends LayerVersion {
  /** The version of yt-dlp. */
  readonly version: string;
  readonly sha256: string;
}

/** Key of the archive of a release in the bucket. */
export const archiveKey = (version: string, asset: string): string => `releases/${version}/${asset}`;

/** Description of a layer version, from which `listPublished` reads its content. */
export const describeLayer = (version: string, asset: string, sha256: string): string =>
  `yt-dlp ${version} of ${asset} sha256 ${sha256}`;

/** Lists the versions that carry this asset. */
export const listPublished = (versions: readonly LayerVersion[], asset: string): Published[] =>
  versions.flatMap((layer) => {
    const [, version, of, sha256] = DESCRIPTION.exec(layer.description) ?? [];
    return version && sha256 && of === asset && isReleaseTag(version) ? [{ ...layer, version, sha256 }] : [];
  });

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

/** Selects the newest of these releases, if it is newer than the one in use. Releases that were rolled back are excluded. */
export const selectRelease = (
  versions: readonly string[],
  inUse: Pick<Pointer, 'version' | 'refused'> | undefined,
): string | undefined =>
  versions
    .filter((version) => !inUse || compareVersions(version, inUse.version) > 0)
    .filter((version) => !inUse?.refused?.includes(version))
    .sort((a, b) => compareVersions(b, a))[0];

/** The layer of a version ARN: `arn:aws:lambda:eu-west-1:1:layer:NAME`. */
const layerOf = (versionArn: string): string => versionArn.replace(/:\d+$/, '');

/** Whether layers of a function have another version of this layer. */
export const hasOtherVersion = (layers: readonly string[], arn: string): boolean =>
  layers.some((layer) => layer !== arn && layerOf(layer) === layerOf(arn));

/** Replaces our layer in the layers of a function, or adds it. The others keep their positions. */
export function replaceLayer(layers: readonly string[], arn: string): string[] {
  const index = layers.findIndex((layer) => layerOf(layer) === layerOf(arn));
  return index < 0 ? [...layers, arn] : layers.with(index, arn);
}

/** Selects what to remove: all but the release in use and the one before it. */
export function planPruning(versions: readonly LayerVersion[], keys: readonly string[], inUse: Pointer) {
  const kept = [inUse, inUse.previous];
  return {
    layers: versions.filter(({ arn }) => !kept.some((release) => release?.layerVersionArn === arn)),
    keys: keys.filter((key) => !kept.some((release) => release?.key === key)),
  };
}

/** Hours since a release, by the date in its tag. @param now epoch milliseconds */
export function getAgeInHours(version: string, now: number): number {
  const [year = 0, month = 1, day = 1] = version.split('.').map(Number);
  return Math.max(0, Math.floor((now - Date.UTC(year, month - 1, day)) / 3_600_000));
}

/** Why a release is not put in place: it does not work, or is not what it was published as, since the signature does not cover the tag. */
export function describeFault(verdict: Verdict, version: string): string | undefined {
  if (!verdict.ok) return verdict.reason;
  if (compareVersions(verdict.version, version) === 0) return undefined;
  return `it reports version ${verdict.version.slice(0, 40)}`;
}
