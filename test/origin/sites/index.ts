import type { OriginHandler } from '../handler.ts';
import { dash } from './dash.ts';
import { feeds } from './feeds.ts';
import { files, slowFiles, truncatedFiles } from './files.ts';
import { hls } from './hls.ts';
import { inward } from './inward.ts';
import { live } from './live.ts';
import { pages } from './pages.ts';
import { plain } from './plain.ts';
import { redirects } from './redirects.ts';
import { trouble } from './trouble.ts';
import { createWatch } from './watch.ts';

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
      '/hls/': hls,
      '/dash/': dash,
      '/live/': live,
      '/pages/': pages,
      '/feeds/': feeds,
      '/redirects/': redirects,
      '/trouble/': trouble,
      '/inward/': inward,
      '/site/': watch.page,
      '/site-api/': watch.api,
      '/site-media/': watch.media,
    },
  };
}
