import { collectInSlices } from '@reelay/concurrency';
import { matchesEntityTag } from '@reelay/seekable-media/http';
import { readSelection } from '../../core/api/index.ts';
import {
  ACCESS_HEADER,
  element,
  entityTag,
  linkSignerFor,
  oneLine,
  textElement,
  XML_DECLARATION,
} from '../../core/http/index.ts';
import { chooseSubtitle, keyOf, type Resource } from '../../core/state/index.ts';
import { headerOf, type OperationHandler, type Result, signKeyFor } from '../http-handler.ts';
import { type Feed, feedItems, toFeed } from './feed.ts';
import { redirect } from './get-media.ts';
import { type PublicBaseUrlOptions, publicBaseUrl } from './public-base-url.ts';
import { type ResolveDependencies, resolveFew, singleResource } from './resolve-request.ts';
import { writeRss } from './rss.ts';

export interface GetFeedOptions extends ResolveDependencies, PublicBaseUrlOptions {}

/** Seconds: clients ask again, and a list that was resolved within the hour is answered from the table. */
const MAX_AGE_SECONDS = 900;
const TYPES = {
  rss: 'application/rss+xml; charset=utf-8',
  m3u8: 'audio/x-mpegurl; charset=utf-8',
  metalink: 'application/metalink4+xml',
  chapters: 'application/json+chapters',
} as const;

const WRITERS = { rss: writeRss, m3u8: writeM3u8, metalink: writeMetalink };

/** GET /api/Feed: a list as a podcast, or as a playlist for players, or as files for download managers; the chapters of an item. */
export const createGetFeed =
  ({ resolveRequest, ...options }: GetFeedOptions): OperationHandler =>
  async (event, context): Promise<Result> => {
    // Before the resolve, which takes seconds.
    const selection = readSelection('Feed', new URLSearchParams(event.rawQueryString));
    const { feedFormat: format = 'rss', offset, entries } = selection;
    const { resolved, sent: link } = await resolveRequest(event, context, { offset, ahead: resolveFew(entries) });
    if (format === 'transcript') {
      const resource = singleResource(resolved);
      return redirect(event, 'Subtitle', keyOf(resource.id, chooseSubtitle(resource).id));
    }
    const write = async () => {
      if (format === 'chapters') return writeChapters(singleResource(resolved));
      const signing = { key: signKeyFor(event), link: linkSignerFor(headerOf(event, ACCESS_HEADER)) };
      const feedOptions = { selection, link, baseUrl: publicBaseUrl(event, options), signing };
      return WRITERS[format](toFeed(resolved, feedOptions, await collectInSlices(feedItems(resolved, feedOptions))));
    };
    const body = await write();
    const etag = entityTag(body);
    // Without it, links have what headers say: no cache may hand them to others.
    const scope = options.publicUrl ? '' : 'private, ';
    const headers = { etag, 'cache-control': `${scope}max-age=${MAX_AGE_SECONDS}` };
    if (matchesEntityTag(headerOf(event, 'if-none-match'), etag)) return { statusCode: 304, headers };
    return { statusCode: 200, headers: { ...headers, 'content-type': TYPES[format] }, body };
  };

/** A playlist for players: extended M3U in UTF-8. */
export function writeM3u8({ title, imageUrl, items }: Feed): string {
  const lines = [
    '#EXTM3U',
    `#PLAYLIST:${oneLine(title)}`,
    ...(imageUrl ? [`#EXTIMG:${oneLine(imageUrl)}`] : []),
    ...items.flatMap((item) => [
      // A comma ends the duration only; titles may have more of them. -1: unknown or live.
      `#EXTINF:${item.durationSeconds && !item.isLive ? Math.round(item.durationSeconds) : -1},${nameOf(item)}`,
      item.media.url,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const nameOf = ({ author, title }: Pick<Feed, 'author' | 'title'>): string =>
  oneLine(author && !title.includes(author) ? `${author} - ${title}` : title);

/**
 * The files of a list for download managers: Metalink (RFC 5854). A size is stated only where it is exact, since a file of
 * another size is refused. There are no hashes: no source tells one of what is sent.
 */
function writeMetalink({ items }: Feed): string {
  // What is live has no end, and so is not a file.
  const recorded = items.filter(({ isLive }) => !isLive);
  const files = recorded.map(({ media: { path, bytes, url } }) =>
    element('file', textElement('size', bytes > 0 ? String(bytes) : undefined) + textElement('url', url), {
      name: path,
    }),
  );
  const metalink = element('metalink', textElement('generator', 'Reelay') + files.join(''), {
    xmlns: 'urn:ietf:params:xml:ns:metalink',
  });
  return `${XML_DECLARATION}${metalink}\n`;
}

/** The chapters of an item as JSON Chapters 1.2 of the podcast namespace. */
export const writeChapters = ({ title, details }: Pick<Resource, 'title' | 'details'>): string =>
  JSON.stringify({
    version: '1.2.0',
    ...(title && { title }),
    chapters: (details?.chapters ?? []).map((chapter) => ({
      startTime: chapter.startSeconds,
      ...(chapter.endSeconds !== undefined && { endTime: chapter.endSeconds }),
      ...(chapter.title && { title: chapter.title }),
    })),
  });
