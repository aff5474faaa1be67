import { problems } from '../../../core/api/index.ts';
import { describeMedia } from './fetch-media.ts';
import { MEDIA_OUTPUT, type Tool } from './tool.ts';

/** Sites whose pages of results yt-dlp reads as lists. The first one is the default. */
const SITES: Readonly<Record<string, (query: string) => string>> = {
  youtube: (query) => `https://www.youtube.com/results?search_query=${query}`,
  'youtube-music': (query) => `https://music.youtube.com/search?q=${query}`,
  dailymotion: (query) => `https://www.dailymotion.com/search/${query}/videos`,
  niconico: (query) => `https://www.nicovideo.jp/search/${query}`,
};
const [DEFAULT_SITE = ''] = Object.keys(SITES);
const MAX_RESULTS = 20;
const MAX_QUERY_CHARACTERS = 200;

export const searchMedia: Tool = {
  name: 'search_media',
  title: 'Search media',
  description: `Searches a site for videos or songs and returns the first ${MAX_RESULTS} results, without files: call fetch_media with the sourceUrl of the one that is wanted.`,
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to search for', minLength: 1, maxLength: MAX_QUERY_CHARACTERS },
      site: { type: 'string', enum: Object.keys(SITES), description: `${DEFAULT_SITE} by default` },
    },
    required: ['query'],
  },
  output: MEDIA_OUTPUT,
  async run({ query = '', site = DEFAULT_SITE }, call) {
    const link = SITES[site]?.(encodeURIComponent(query.trim().toWellFormed()));
    if (!link || query.trim() === '') throw problems.badRequest('The query is blank.');
    const { items, ...list } = describeMedia(await call.resolve(link), call);
    return { ...list, items: items.slice(0, MAX_RESULTS) };
  },
};
