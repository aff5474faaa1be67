import { collectInSlices } from '@reelay/concurrency';
import { matchesEntityTag } from '@reelay/seekable-media/http';
import { readSelection } from '../../../core/api/index.ts';
import { ACCESS_HEADER, entityTag, linkSignerFor } from '../../../core/http/index.ts';
import { chooseSubtitle, keyOf } from '../../../core/state/index.ts';
import { type Answer, headerOf, type Result, signKeyFor } from '../../middleware/index.ts';
import { redirect } from '../get.ts';
import { type PublicBaseUrlOptions, publicBaseUrl } from '../public-base-url.ts';
import { type Resolving, singleResource } from '../resolve-request.ts';
import { feedItems, toFeed } from './feed.ts';
import { writeRss } from './rss.ts';
import { writeChapters, writeM3u8, writeMetalink } from './write-lists.ts';

export interface GetFeedOptions extends Resolving, PublicBaseUrlOptions {}

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
  ({ resolveRequest, ...options }: GetFeedOptions): Answer =>
  async (event, context): Promise<Result> => {
    // Before the resolve, which takes seconds.
    const selection = readSelection('Feed', new URLSearchParams(event.rawQueryString));
    const { feedFormat: format = 'rss' } = selection;
    const { resolved, sent: link } = await resolveRequest(event, context);
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
