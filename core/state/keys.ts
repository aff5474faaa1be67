import { createSingleFlight } from '@reelay/concurrency';
import { fileType } from '@reelay/seekable-media/codecs';
import { digestOf } from '@reelay/seekable-media/values';
import type { SoundName } from '@reelay/seekable-media/virtual-mp4';
import { NotFound } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import type { ArchivedList, Rendition, Resource, ResourceOrigin, Subtitle, Track } from './resource.ts';
import type { State } from './state.ts';
import { capabilitiesOf } from './track.ts';

/** base64url characters of each digest: 132 bits for the resource, 66 for the rendition within it. */
const RESOURCE_CHARACTERS = 22;
const RENDITION_CHARACTERS = 11;
const KEY = new RegExp(`^([\\w-]{${RESOURCE_CHARACTERS}})([\\w-]{${RENDITION_CHARACTERS}})$`);

/**
 * The id of the resource at an origin, stable across resolves. The URL fragment is ignored: where it is a route, the
 * extractor's entry id tells the items apart.
 */
export const resourceId = ({ url, extractor, entryId, list, offset }: ResourceOrigin): string =>
  digestOf(
    // A list is a URL: no offset is one.
    ['resource', url.split('#', 1)[0] ?? '', extractor, entryId, ...[list ?? [], offset ? `+${offset}` : []].flat()],
    RESOURCE_CHARACTERS,
  );

/** What a page of a list is stored under, in place of the URL. No URL is JSON, and lists name their entries by two texts. */
export const pageKey = (url: string, offset = 0): string => (offset > 0 ? JSON.stringify([url, offset]) : url);

/** The id under which a link is stored. `url` in WHATWG form, without userinfo and fragment. */
export const linkId = (url: string): string => digestOf(['link', url], RESOURCE_CHARACTERS);

/** The id of a rendition within its resource. */
export const renditionId = ({ side, urlType, formatIds }: Pick<Rendition, 'side' | 'urlType' | 'formatIds'>): string =>
  digestOf(['rendition', side, urlType, ...formatIds], RENDITION_CHARACTERS);

/** The id of a subtitle file within its resource. */
export const subtitleId = ({ language, isAutomatic }: Pick<Subtitle, 'language' | 'isAutomatic'>): string =>
  digestOf(['subtitle', language, String(isAutomatic)], RENDITION_CHARACTERS);

/**
 * The key by which clients request the archive of a page of a list, or of entries of it. `url` as for `linkId`.
 * @param isSplit whether the entries are the chapters of an item. @default false
 */
export const archiveKey = (
  url: string,
  { selected = [], offset }: Pick<ArchivedList, 'selected' | 'offset'> = {},
  isSplit = false,
): string =>
  digestOf(
    [isSplit ? 'chapters' : 'archive', pageKey(url, offset), ...selected.flat().map(String)],
    RESOURCE_CHARACTERS + RENDITION_CHARACTERS,
  );

/** The key by which clients request a rendition or a subtitle file. */
export const keyOf = (resourceId: string, partId: string): string => resourceId + partId;

/** The two digests of a key; undefined if it is malformed. */
export function parseKey(key: string): { resourceId: string; renditionId: string } | undefined {
  const [, resourceId, renditionId] = KEY.exec(key) ?? [];
  return resourceId && renditionId ? { resourceId, renditionId } : undefined;
}

/**
 * The video of a pair alone, which GetResource does not list. It has a key of its own, valid for as long as that of the pair,
 * from which it is made instead of being stored. Undefined for other renditions, and without the track.
 */
export function videoOfPair({ tracks }: Pick<Resource, 'tracks'>, pair: Rendition): Rendition | undefined {
  const [formatId] = pair.formatIds;
  const track = pair.urlType === 'Combined' ? tracks.find((one) => one.formatId === formatId) : undefined;
  if (!track) return undefined;
  const what = { side: 'video', urlType: 'Media', formatIds: [formatId] } as const;
  const { description = null, sizeBytes, bitrate } = track;
  return {
    id: renditionId(what),
    ...what,
    label: pair.label,
    description,
    ...fileType(capabilitiesOf(track).isFile ? track.container : 'mp4', true),
    sizeBytes,
    height: pair.height,
    bitrate: bitrate && Math.round(bitrate * 1000) / 1000,
    ...(pair.flaws && { flaws: pair.flaws }),
  };
}

/** The rendition that a key identifies. */
export interface KeyedRendition {
  readonly key: string;
  readonly resource: Resource;
  readonly rendition: Rendition;
  /** One for Media; video and audio for Combined. */
  readonly tracks: readonly [Track, ...Track[]];
  /** What its audio is called. Absent: it is that of the rendition. */
  readonly sounds?: readonly SoundName[];
  /** What distinguishes it from the rendition in file names: `German`. */
  readonly version?: string;
}

/**
 * Finds the rendition of a key; undefined if there is none. An invalid key causes no read.
 * @throws StateUnavailable, as `getResource` does
 */
export async function findByKey(key: string, getResource: State['getResource']): Promise<KeyedRendition | undefined> {
  const ids = parseKey(key);
  const resource = ids && (await getResource(ids.resourceId));
  return resource && findRendition(resource, ids.renditionId);
}

/** The rendition of a resource that has an id; undefined if there is none. */
export function findRendition(resource: Resource, id: string): KeyedRendition | undefined {
  const stored = [...resource.renditions, ...(resource.withdrawn ?? [])];
  const isWanted = (rendition: Rendition | undefined) => rendition?.id === id;
  const rendition = stored.find(isWanted) ?? stored.map((pair) => videoOfPair(resource, pair)).find(isWanted);
  return rendition && keyedRendition(resource, rendition);
}

/** A rendition with its tracks and its key; undefined where its resource lacks a track. */
export function keyedRendition(resource: Resource, rendition: Rendition): KeyedRendition | undefined {
  const tracks = rendition.formatIds.flatMap((id) => resource.tracks.find(({ formatId }) => formatId === id) ?? []);
  const [first, ...rest] = tracks;
  return first && tracks.length === rendition.formatIds.length
    ? { key: keyOf(resource.id, rendition.id), resource, rendition, tracks: [first, ...rest] }
    : undefined;
}

/** The subtitle file that a key identifies. */
export interface KeyedSubtitle {
  readonly key: string;
  readonly resource: Resource;
  readonly subtitle: Subtitle;
  readonly track: Track;
}

/** Finds the subtitle file of a key, as `findByKey` finds a rendition. */
async function findSubtitleByKey(key: string, getResource: State['getResource']): Promise<KeyedSubtitle | undefined> {
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

/** A list whose archive a key identifies. */
interface KeyedArchive {
  readonly key: string;
  readonly list: ArchivedList;
  /** As the resource of a rendition, it names the archive. */
  readonly resource: Pick<Resource, 'title' | 'author' | 'isLive'>;
}

/** Looks up keys. @throws NotFound for an unknown key, StateUnavailable */
export interface KeyLookup {
  rendition(key: string): Promise<KeyedRendition>;
  subtitle(key: string): Promise<KeyedSubtitle>;
  archive(key: string): Promise<KeyedArchive>;
}

interface KeyLookupDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource' | 'getArchivedList' | 'touchArchivedList'>;
  readonly log: Log;
}

/** Looks keys up in the state table, and extends the expiry of the resources that are used. */
export function createKeyLookup({ state, log }: KeyLookupDependencies): KeyLookup {
  // Concurrent requests for one resource share a read, so that a rush of clients does not flood the table.
  const reads = createSingleFlight<Resource | undefined>();
  const getResource = (id: string) => reads(id, () => state.getResource(id));

  const touched = <Found extends { readonly resource: Resource }>(found: Found | undefined): Found => {
    if (!found) throw new NotFound('Unknown key');
    const { resource } = found;
    state
      .touchResource(resource)
      .catch((error) => log.warn('Extending the expiry of a resource failed', { resource: resource.id, error }));
    return found;
  };
  return {
    rendition: async (key) => touched(await findByKey(key, getResource)),
    subtitle: async (key) => touched(await findSubtitleByKey(key, getResource)),
    async archive(key) {
      const list = await state.getArchivedList(key);
      if (!list) throw new NotFound('Unknown key');
      state
        .touchArchivedList(list)
        .catch((error) => log.warn('Extending the expiry of a list failed', { list: list.id, error }));
      const { title, author } = list;
      return { key, list, resource: { title, author, isLive: false } };
    },
  };
}

/** The id of a video of YouTube. Undefined for an item of another site, and for a live stream, which has no length yet. */
export const youtubeIdOf = ({ origin: { extractor, entryId }, isLive }: Resource): string | undefined =>
  extractor === 'Youtube' && /^[\w-]{11}$/.test(entryId) && !isLive ? entryId : undefined;
