import { parseKey } from './keys.ts';
import type { Rendition, Resource, Track } from './resource.ts';
import type { State } from './state.ts';

/** What stands behind a key. */
export interface KeyedRendition {
  readonly key: string;
  readonly resource: Resource;
  readonly rendition: Rendition;
  /** One for Media; video and audio for Combined. */
  readonly tracks: readonly [Track, ...Track[]];
}

/**
 * The rendition behind a key; undefined when there is none, or when it is not of the endpoint that was asked. A key that
 * cannot be ours reads nothing.
 * @throws whatever `getResource` throws
 */
export async function findByKey(
  key: string,
  urlType: Rendition['urlType'],
  getResource: State['getResource'],
): Promise<KeyedRendition | undefined> {
  const ids = parseKey(key);
  const resource = ids && (await getResource(ids.resourceId));
  if (!resource) return undefined;
  const rendition = [...resource.renditions, ...(resource.withdrawn ?? [])].find(({ id }) => id === ids?.renditionId);
  if (rendition?.urlType !== urlType) return undefined;
  const tracks = rendition.formatIds.flatMap((id) => resource.tracks.find(({ formatId }) => formatId === id) ?? []);
  const [first, ...rest] = tracks;
  return first && tracks.length === rendition.formatIds.length
    ? { key, resource, rendition, tracks: [first, ...rest] }
    : undefined;
}
