import { buffer } from 'node:stream/consumers';
import { linkUrl } from '../../../core/api/index.ts';
import { NotDeliverable } from '../../../core/errors/index.ts';
import { element, escapeXml, textElement, XML_DECLARATION } from '../../../core/http/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { keyOf, type Resource } from '../../../core/state/index.ts';
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

/** Subtitles of an item, each of which is a request to its source. */
const MAX_SUBTITLES = 8;
/** A language as file names have it. */
const LANGUAGE = /^[\w-]{1,35}$/;

/**
 * What media centres read of an item: a link, its metadata, its cover and its subtitles. A cover and subtitles that cannot be
 * read are left out.
 * @param session absent: nothing is fetched
 * @throws NotDeliverable for an item without a link of its own; CapacityExceeded, ClientLimitExceeded, InMaintenance; Error
 * without a session when something has to be fetched
 */
export async function libraryFiles(
  { number, resource }: { readonly number: number; readonly resource: Resource },
  { contents, parameters, signLink }: ArchiveRequest,
  dependencies: LibraryDependencies,
  session?: StreamSession,
): Promise<LibraryFiles> {
  const { list, entries } = contents;
  const { url: link } = entries.get(number) ?? list;
  // Items that come with the page of their list have its link.
  if (link === list.url && list.entries.length > 1)
    throw new NotDeliverable('The entry has no link of its own, which outlives its key.');
  const { baseUrl } = list;
  const url = linkUrl('Get', { ...parameters, format: undefined, link, baseUrl, access: signLink?.(link) });
  const path = contents.libraryPathOf(number, resource);
  const [cover, subtitles] = await Promise.all([
    findCover(resource, dependencies, session),
    readSubtitles(resource, dependencies, session),
  ]);
  // Jellyfin and Kodi look for the picture of an item under the first name, and Kodi for that of its folder.
  const covers = cover.length > 0 ? [`${path}-poster.jpg`, path.replace(/[^/]*$/, 'folder.jpg')] : [];
  return [
    { path: `${path}.strm`, bytes: Buffer.from(`${url}\n`) },
    { path: `${path}.nfo`, bytes: Buffer.from(writeNfo(resource, link)) },
    ...covers.map((name) => ({ path: name, bytes: cover })),
    ...subtitles.map(({ language, bytes }) => ({ path: `${path}.${languageLabel(language)}.srt`, bytes })),
  ];
}

/** Empty: there is none. */
async function findCover(
  resource: Resource,
  { covers }: LibraryDependencies,
  session: StreamSession | undefined,
): Promise<Buffer> {
  if (resource.coverUrl === null) return Buffer.alloc(0);
  const cover = await (session ? covers.find(resource, session) : covers.stored(resource));
  if (!cover) throw new Error('The cover of the item has to be fetched');
  return cover;
}

/** One of each language, by people before automatic. As SubRip, which every version of every program reads. */
async function readSubtitles(
  resource: Resource,
  { outputs, log }: LibraryDependencies,
  session: StreamSession | undefined,
): Promise<{ readonly language: string; readonly bytes: Buffer }[]> {
  const named = (resource.subtitles ?? []).filter(({ language }) => LANGUAGE.test(language));
  const languages = new Map(named.map(({ language }) => [language.toLowerCase(), language]));
  if (languages.size === 0) return [];
  if (!session) throw new Error('Subtitles of the item have to be fetched');
  const read = [...languages.values()].slice(0, MAX_SUBTITLES).map(async (language) => {
    try {
      const selected = selectSubtitle(resource, language);
      const key = keyOf(resource.id, selected.subtitle.id);
      const opened = await outputs.open(planSubtitle({ key, resource, ...selected }, 'srt'), session, { first: 0 });
      return { language, bytes: await buffer(opened.read(0)) };
    } catch (error) {
      session.signal.throwIfAborted();
      if (isAtLimit(error)) throw error;
      log.info('Subtitles of a library failed', { resource: resource.id, language, error });
      return undefined;
    }
  });
  return (await Promise.all(read)).filter((subtitle) => subtitle !== undefined);
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
