import { parseKey } from './keys.ts';
import type { Rendition, Resource, Subtitle, Track } from './resource.ts';
import type { State } from './state.ts';

/** The rendition that a key identifies. */
export interface KeyedRendition {
  readonly key: string;
  readonly resource: Resource;
  readonly rendition: Rendition;
  /** One for Media; video and audio for Combined. */
  readonly tracks: readonly [Track, ...Track[]];
}

/**
 * Finds the rendition of a key; undefined if there is none. An invalid key causes no read.
 * @throws StateUnavailable, as `getResource` does
 */
export async function findByKey(key: string, getResource: State['getResource']): Promise<KeyedRendition | undefined> {
  const ids = parseKey(key);
  const resource = ids && (await getResource(ids.resourceId));
  if (!resource) return undefined;
  const rendition = [...resource.renditions, ...(resource.withdrawn ?? [])].find(({ id }) => id === ids?.renditionId);
  if (!rendition) return undefined;
  const tracks = rendition.formatIds.flatMap((id) => resource.tracks.find(({ formatId }) => formatId === id) ?? []);
  const [first, ...rest] = tracks;
  return first && tracks.length === rendition.formatIds.length
    ? { key, resource, rendition, tracks: [first, ...rest] }
    : undefined;
}

/** The subtitle file that a key identifies. */
export interface KeyedSubtitle {
  readonly key: string;
  readonly resource: Resource;
  readonly subtitle: Subtitle;
  readonly track: Track;
}

/** As `findByKey`, for subtitle files. */
export async function findSubtitleByKey(
  key: string,
  getResource: State['getResource'],
): Promise<KeyedSubtitle | undefined> {
  const ids = parseKey(key);
  const resource = ids && (await getResource(ids.resourceId));
  const subtitle = resource?.subtitles?.find(({ id }) => id === ids?.renditionId);
  const track = resource?.tracks.find(({ formatId }) => formatId === subtitle?.formatId);
  return resource && subtitle && track ? { key, resource, subtitle, track } : undefined;
}

/** Whether a key identifies a rendition, a subtitle file or the archive of a list. */
export const hasKey = async (
  key: string,
  { getResource, getArchivedList }: Pick<State, 'getResource' | 'getArchivedList'>,
): Promise<boolean> =>
  Boolean(
    (await findByKey(key, getResource)) ?? (await findSubtitleByKey(key, getResource)) ?? (await getArchivedList(key)),
  );
