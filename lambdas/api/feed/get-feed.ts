import { collectInSlices } from '@reelay/concurrency';
import { operationsById, readSelection, type Selection } from '../../../core/api/index.ts';
import { ACCESS_HEADER, entityTag, linkSignerFor, matchesEntityTag } from '../../../core/http/index.ts';
import type { Resolved } from '../../../core/resolve/index.ts';
import { keyOf } from '../../../core/state/index.ts';
import { createHandler, type Event, type Handler, headerOf, type Result, signKeyFor } from '../../middleware/index.ts';
import { chooseSubtitle } from '../choose-subtitle.ts';
import { redirect } from '../get.ts';
import { type PublicBaseUrlOptions, publicBaseUrl } from '../public-base-url.ts';
import { createResolveRequest, type ResolveOptions, singleResource } from '../resolve-request.ts';
import { feedItems, toFeed } from './feed.ts';
import { writeRss } from './rss.ts';
import { writeChapters, writeM3u8, writeMetalink } from './write-lists.ts';

export interface GetFeedOptions extends ResolveOptions, Omit<PublicBaseUrlOptions, 'isBehindEdge'> {}

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
export const createGetFeed = (options: GetFeedOptions): Handler => {
  const resolveRequest = createResolveRequest(options);
  const isBehindEdge = options.originSecret !== undefined;

  const write = async (
    event: Event,
    resolved: Resolved,
    link: string,
    { format, selection }: { readonly format: keyof typeof TYPES; readonly selection: Selection },
  ): Promise<{ type: string; body: string }> => {
    if (format === 'chapters') return { type: TYPES.chapters, body: writeChapters(singleResource(resolved)) };
    const baseUrl = publicBaseUrl(event, { ...options, isBehindEdge });
    const signing = { key: signKeyFor(event), link: linkSignerFor(headerOf(event, ACCESS_HEADER)) };
    const feedOptions = { selection, link, baseUrl, signing };
    const feed = toFeed(resolved, feedOptions, await collectInSlices(feedItems(resolved, feedOptions)));
    return { type: TYPES[format], body: WRITERS[format](feed) };
  };

  return createHandler(
    { ...options, methods: operationsById.Feed.methods },
    async (event, context): Promise<Result> => {
      // Before the resolve, which takes seconds.
      const selection = readSelection('Feed', new URLSearchParams(event.rawQueryString));
      const { feedFormat: format = 'rss' } = selection;
      const { resolved, sent } = await resolveRequest(event, context);
      if (format === 'transcript') {
        const resource = singleResource(resolved);
        return redirect('Subtitle', signKeyFor(event)(keyOf(resource.id, chooseSubtitle(resource).id)));
      }
      const { type, body } = await write(event, resolved, sent, { format, selection });
      const etag = entityTag(body);
      const headers = { etag, 'cache-control': `max-age=${MAX_AGE_SECONDS}` };
      if (matchesEntityTag(headerOf(event, 'if-none-match'), etag)) return { statusCode: 304, headers };
      return { statusCode: 200, headers: { ...headers, 'content-type': type }, body };
    },
  );
};
