import type { JsonSchemaType } from '@modelcontextprotocol/server';
import type { Cue } from '@reelay/seekable-media/text/subtitles';
import { problems, type Schema, streamPath } from '../../core/api/index.ts';
import { findConversionName } from '../../core/conversions/index.ts';
import { normalizeLink, type Resolver } from '../../core/resolve/index.ts';
import { chooseSubtitle, type Resource, type Subtitle } from '../../core/state/index.ts';
import { type Event, type InvocationContext, signKeyFor } from '../http-handler.ts';
import { toResourceInformation } from './get-resource.ts';
import { type ResolvedRequest, singleResource } from './resolve-request.ts';

/** A tool of the Model Context Protocol. It only reads. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses the tool. */
  readonly description: string;
  /** JSON Schema of its arguments, an object. */
  readonly input: JsonSchemaType;
  /** JSON Schema of an answer that is an object. Absent: the answer is text. */
  readonly output?: JsonSchemaType;
  /**
   * @param args as `input` describes them
   * @throws what the answer says in words
   */
  run(args: Readonly<Record<string, string>>, call: ToolCall): Promise<object | string>;
}

/** The request by which a tool is called. */
export interface ToolCall {
  readonly event: Event;
  readonly context: InvocationContext;
  /** The base URL by which clients reach the instance, without a slash at the end. @throws Problem when it is not known */
  baseUrl(): string;
  /** Resolves a link as GetResource does; entries of a list stay as the list describes them. @throws as `createResolveRequest` */
  resolve(url: string): Promise<ResolvedRequest>;
}

const nullableText = { type: ['string', 'null'] } as const;

const LINK_INPUT = {
  type: 'string',
  description: 'The http or https address of the page with the video, the song or the list',
} as const;

const FILES = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      label: { type: 'string' },
      description: nullableText,
      fileExtension: { type: 'string' },
      fileSizeBytes: { type: ['integer', 'null'] },
      downloadUrl: { type: 'string' },
    },
    required: ['label', 'description', 'fileExtension', 'fileSizeBytes', 'downloadUrl'],
  },
} as const;

const HEAD = { title: nullableText, author: nullableText, coverUrl: nullableText } as const;

/** What `describeMedia` returns. */
const MEDIA_OUTPUT: JsonSchemaType = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['Media', 'PlayList'] },
    ...HEAD,
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...HEAD, sourceUrl: { type: 'string' }, video: FILES, audio: FILES },
        required: ['title', 'author', 'sourceUrl', 'coverUrl', 'video', 'audio'],
      },
    },
  },
  required: ['type', 'title', 'author', 'coverUrl', 'items'],
};

/** A rendition with the address of its file. */
interface MediaFile
  extends Pick<Schema<'MediaRendition'>, 'label' | 'description' | 'fileExtension' | 'fileSizeBytes'> {
  /** Absolute; signed where the instance is private. */
  readonly downloadUrl: string;
}

interface MediaItem {
  readonly title: string | null;
  readonly author: string | null;
  /** What to resolve for the item alone. */
  readonly sourceUrl: string;
  readonly coverUrl: string | null;
  /** Best first, as `audio`. Entries of a list that have an address of their own have neither. */
  readonly video: readonly MediaFile[];
  readonly audio: readonly MediaFile[];
}

export interface Media {
  readonly type: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  readonly items: readonly MediaItem[];
}

export const fetchMedia: Tool = {
  name: 'fetch_media',
  title: 'Fetch media',
  description:
    'Finds the video and audio files behind a link, best first, each with a downloadUrl that anyone can open or download. Of a list (playlist, channel, album, podcast) it returns the items without files: call it again with the sourceUrl of the item that is wanted.',
  input: { type: 'object', properties: { url: LINK_INPUT }, required: ['url'] },
  output: MEDIA_OUTPUT,
  run: async ({ url = '' }, call) => describeMedia(await call.resolve(url), call),
};

/** What a link has been resolved to, with the addresses of the files. @throws Problem when the base URL is not known */
export function describeMedia({ resolved, sent }: ResolvedRequest, call: ToolCall): Media {
  const { type, title, author, coverUrl, mediaItems } = toResourceInformation(resolved, sent, signKeyFor(call.event));
  const baseUrl = call.baseUrl();
  const link = normalizeLink(sent.trim());
  const files = (renditions: readonly Schema<'MediaRendition'>[] = []) =>
    renditions.map((rendition) => toFile(rendition, baseUrl));
  const items = mediaItems.map((item): MediaItem => {
    const { requestedUrl, video, audio } = item;
    // Items that only the page of the list has are resolved with it: asking for their address would lead to the list again.
    const isComplete = resolved.type === 'Media' || requestedUrl === link;
    return {
      title: item.title,
      author: item.author,
      sourceUrl: requestedUrl ?? link,
      coverUrl: item.coverUrl,
      video: isComplete ? files(video?.renditions) : [],
      audio: isComplete ? files(audio?.renditions) : [],
    };
  });
  return { type, title, author, coverUrl, items };
}

function toFile(rendition: Schema<'MediaRendition'>, baseUrl: string): MediaFile {
  const { key, label, description, fileExtension, fileSizeBytes, convertTo } = rendition;
  // Media serves both kinds of renditions, by range where that is possible.
  const path = streamPath('Media', key, { format: findConversionName(convertTo ?? undefined) });
  return {
    label,
    description,
    fileExtension,
    fileSizeBytes,
    downloadUrl: `${baseUrl}${path}`,
  };
}

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

export interface GetTranscriptOptions {
  readonly resolver: Pick<Resolver, 'readSubtitle'>;
}

/** From the arrival of the request: behind the time that a resolve may take, before API Gateway ends the request at 30 s. */
const TIMEOUT_MS = 28_000;
/** Ten hours of speech have as many, in Latin letters. */
const MAX_BYTES = 1_000_000;

export const createGetTranscript = ({ resolver }: GetTranscriptOptions): Tool => ({
  name: 'get_transcript',
  title: 'Get transcript',
  description:
    'Returns what is said in a video: the text of its subtitles, one line for each with the time at which it is shown.',
  input: {
    type: 'object',
    properties: {
      url: LINK_INPUT,
      language: {
        type: 'string',
        description: 'BCP 47, such as en or pt-BR. Without it, the language that is spoken where that is known',
      },
    },
    required: ['url'],
  },
  async run({ url = '', language }, { event, context, resolve }) {
    const { resolved, client } = await resolve(url);
    const resource = singleResource(resolved);
    const subtitle = chooseSubtitle(resource, language?.trim());
    const leftMs = Math.max(1, event.requestContext.timeEpoch + TIMEOUT_MS - Date.now());
    const signal = AbortSignal.any([AbortSignal.timeout(leftMs), ...(context.signal ? [context.signal] : [])]);
    const cues = await resolver.readSubtitle(resource, subtitle, signal, client);
    return `${headOf(resource, subtitle)}\n\n${writeTranscript(cues)}`;
  },
});

const headOf = ({ title }: Resource, { language, isAutomatic }: Subtitle): string =>
  `${title ?? 'Untitled'} (${language}${isAutomatic ? ', by speech recognition' : ''})`;

/** One line for each text, with the time at which it is shown. Automatic captions repeat the line before in each cue. */
function writeTranscript(cues: readonly Cue[]): string {
  const lines: string[] = [];
  let last: string | undefined;
  let bytes = 0;
  for (const { startMs, text } of cues) {
    const fresh = text.split('\n').filter((line) => line !== last);
    last = text.split('\n').at(-1);
    if (fresh.length === 0) continue;
    const line = `[${clock(startMs)}] ${fresh.join(' ')}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) return [...lines, '(The rest is left out: the transcript is too long.)'].join('\n');
    lines.push(line);
  }
  return lines.join('\n');
}

/** Hours, minutes and seconds: `01:02:03`. */
const clock = (ms: number): string =>
  [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60]
    .map((each) => String(Math.floor(each)).padStart(2, '0'))
    .join(':');
