import { buffer } from 'node:stream/consumers';
import { linkUrl } from '../../../core/api/index.ts';
import { NotDeliverable } from '../../../core/errors/index.ts';
import { element, escapeXml, textElement, XML_DECLARATION } from '../../../core/http/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { keyOf, type PlaylistEntry, type Resource } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import type { Covers } from '../picture/index.ts';
import type { Outputs } from '../representation.ts';
import { planSubtitle, selectSubtitle, type TextPlan } from '../text/index.ts';
import type { ArchiveRequest } from './choose-entry.ts';
import { isAtLimit } from './entry-feed.ts';
import { languageLabel } from './library-names.ts';

/** A file of an item of a library. */
export interface LibraryFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** The files of an item; the link is the first one. */
export type LibraryFiles = readonly [LibraryFile, ...LibraryFile[]];

export interface LibraryDependencies {
  readonly covers: Covers;
  readonly outputs: Pick<Outputs<TextPlan>, 'open'>;
  readonly log: Log;
}

/** An item of a list that is to be in a library. */
export interface LibraryItem {
  readonly number: number;
  readonly resource: Resource;
}

/** Subtitles of an item, each of which is a request to its source. */
const MAX_SUBTITLES = 8;
/** A language as file names have it. */
const LANGUAGE = /^[\w-]{1,35}$/;

/**
 * What media centres read of an item: a link, its metadata, its cover and its subtitles. A cover and subtitles that cannot be
 * read are left out.
 * @throws NotDeliverable for an item without a link of its own; CapacityExceeded, ClientLimitExceeded, InMaintenance
 */
export async function libraryFiles(
  item: LibraryItem,
  request: ArchiveRequest,
  session: StreamSession,
  dependencies: LibraryDependencies,
): Promise<LibraryFiles> {
  const texts = textFiles(item, request);
  const [cover, subtitles] = await Promise.all([
    dependencies.covers.find(item.resource, session),
    subtitleFiles(item, request, session, dependencies),
  ]);
  return [...texts, ...coverFiles(item, request, cover), ...subtitles];
}

/**
 * The same without fetching anything.
 * @throws Error when a file is not there yet, and as `libraryFiles`
 */
export async function knownLibraryFiles(
  item: LibraryItem,
  request: ArchiveRequest,
  { covers }: Pick<LibraryDependencies, 'covers'>,
): Promise<LibraryFiles> {
  const { coverUrl, subtitles = [] } = item.resource;
  const cover = coverUrl === null ? Buffer.alloc(0) : await covers.stored(item.resource);
  if (!cover || subtitles.length > 0) throw new Error('Files of the item have to be fetched');
  return [...textFiles(item, request), ...coverFiles(item, request, cover)];
}

function textFiles({ number, resource }: LibraryItem, request: ArchiveRequest): [LibraryFile, LibraryFile] {
  const { contents, parameters, signLink } = request;
  const { entries, list, libraryPathOf } = contents;
  const entry = entries.get(number);
  const link = entry && linkOf(entry, request);
  if (link === undefined) throw new NotDeliverable('The entry has no link of its own, which outlives its key.');
  const { baseUrl } = list;
  const url = linkUrl('Get', { ...parameters, format: undefined, link, baseUrl, access: signLink?.(link) });
  const path = libraryPathOf(number, resource);
  return [
    { path: `${path}.strm`, bytes: Buffer.from(`${url}\n`) },
    { path: `${path}.nfo`, bytes: Buffer.from(writeNfo(resource, link)) },
  ];
}

/** Items that come with the page of their list have its link. */
const linkOf = ({ url }: PlaylistEntry, { contents: { list } }: ArchiveRequest): string | undefined =>
  list.entries.length === 1 || url !== list.url ? url : undefined;

/** Under the names by which Jellyfin and Kodi look for the picture of an item, and Kodi for that of its folder. */
function coverFiles({ number, resource }: LibraryItem, { contents }: ArchiveRequest, bytes: Buffer): LibraryFile[] {
  const path = contents.libraryPathOf(number, resource);
  const names = bytes.length > 0 ? [`${path}-poster.jpg`, path.replace(/[^/]*$/, 'folder.jpg')] : [];
  return names.map((name) => ({ path: name, bytes }));
}

/** One of each language, by people before automatic. As SubRip, which every version of every program reads. */
async function subtitleFiles(
  { number, resource }: LibraryItem,
  { contents }: ArchiveRequest,
  session: StreamSession,
  { outputs, log }: LibraryDependencies,
): Promise<LibraryFile[]> {
  const path = contents.libraryPathOf(number, resource);
  const named = (resource.subtitles ?? []).filter(({ language }) => LANGUAGE.test(language));
  const languages = new Map(named.map(({ language }) => [language.toLowerCase(), language]));
  const files = [...languages.values()].slice(0, MAX_SUBTITLES).map(async (language) => {
    try {
      const selected = selectSubtitle(resource, language);
      const key = keyOf(resource.id, selected.subtitle.id);
      const opened = await outputs.open(planSubtitle({ key, resource, ...selected }, 'srt'), session, { first: 0 });
      return { path: `${path}.${languageLabel(language)}.srt`, bytes: await buffer(opened.read(0)) };
    } catch (error) {
      session.signal.throwIfAborted();
      if (isAtLimit(error)) throw error;
      log.info('Subtitles of a library failed', { resource: resource.id, language, error });
      return undefined;
    }
  });
  return (await Promise.all(files)).filter((file) => file !== undefined);
}

/** The metadata of an item as Kodi and Jellyfin read it: a film in a folder of its own, whatever it is at its source. */
export function writeNfo(resource: Resource, link: string): string {
  const { title, author, coverUrl, durationSeconds, details = {}, origin } = resource;
  const minutes = durationSeconds === undefined ? undefined : Math.max(1, Math.round(durationSeconds / 60));
  const content = [
    textElement('title', title ?? link),
    textElement('plot', details.description),
    textElement('studio', author),
    textElement('premiered', details.uploadDate),
    textElement('runtime', minutes?.toString()),
    element('uniqueid', escapeXml(origin.entryId), { type: origin.extractor.toLowerCase(), default: 'true' }),
    ...(details.tags ?? []).map((tag) => textElement('tag', tag)),
    element('thumb', coverUrl === null ? undefined : escapeXml(coverUrl), { aspect: 'poster' }),
    // Jellyfin would look films of similar titles up, and replace these metadata.
    textElement('lockdata', 'true'),
  ];
  return `${XML_DECLARATION}${element('movie', content.join(''))}\n`;
}
