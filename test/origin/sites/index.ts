import type { OriginHandler } from '../handler.ts';
import { createRecorded, type Recording } from '../recorded.ts';
import recordings from './answers.json' with { type: 'json' };
import { dash } from './dash.ts';
import { files, slowFiles, truncatedFiles } from './files.ts';
import { live } from './live.ts';
import { plain } from './plain.ts';
import { redirects } from './redirects.ts';
import { trouble } from './trouble.ts';
import { createWatch } from './watch.ts';

/**
 * `/pages/video`, `/feeds/podcast.xml`, `/hls/master.m3u8` and more: what `answers.json` has. `/inward/KIND?to=URL` refers to a
 * private address, which a guarded client does not request.
 */
const recorded = (answers: Recording['answers']): OriginHandler => {
  const { handle } = createRecorded({ answers });
  return (exchange) => handle(exchange);
};

/** The sites of one origin by prefix. */
export function createSites(): { handlers: Readonly<Record<string, OriginHandler>>; expireUrls: () => void } {
  const watch = createWatch();
  return {
    expireUrls: watch.expireUrls,
    handlers: {
      '/files/': files,
      '/slow/': slowFiles,
      '/truncated/': truncatedFiles,
      '/plain/': plain,
      '/hls/': recorded(recordings.hls),
      '/dash/': dash,
      '/live/': live,
      '/pages/': recorded(recordings.pages),
      '/feeds/': recorded(recordings.feeds),
      '/redirects/': redirects,
      '/trouble/': trouble,
      '/inward/': recorded(recordings.inward),
      '/site/': watch.page,
      '/site-api/': watch.api,
      '/site-media/': watch.media,
    },
  };
}
