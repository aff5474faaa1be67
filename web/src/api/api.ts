import {
  type AppInfo,
  createClient,
  type MediaDetails,
  type MediaInformation,
  type MediaRendition,
  type PlaylistCounts,
  playlistCountsOf,
  type ResourceInformation,
  type SkipSegment,
} from '../../../clients/reelay-client/src/index.ts';
import { type ToolProgress, toApiFailure } from './failure.ts';
import { progressOf, samplesOf, sitesOf } from './response-headers.ts';

/** Client of one instance. Every method throws `ApiFailure`, or the signal's reason when aborted. */
export interface Api {
  /** Origin and path without a trailing slash, such as `https://reelay.example`. */
  readonly base: string;
  getAppInfo(signal?: AbortSignal): Promise<InstanceInfo>;
  resolve(link: string, signal?: AbortSignal, options?: ResolveOptions): Promise<ResolvedLink>;
  getDetails(link: string, options?: ResolveOptions): Promise<MediaDetails>;
  /** Segments that viewers have reported. @param key of the details */
  getSegments(key: string): Promise<readonly SkipSegment[]>;
  /** URL of the cover of the item that a rendition belongs to, for saving. @param key of the rendition */
  coverUrl(key: string): string;
  /** URL of a subtitle file. */
  subtitleUrl(key: string, format: 'vtt' | 'srt' | 'txt'): string;
  /** Stream URL of a rendition, or of a part of it. Media serves combined renditions with ranges where it can. */
  streamUrl(rendition: Pick<MediaRendition, 'key'> & Partial<MediaRendition>, options?: StreamOptions): string;
  /** The HLS of a rendition: of a recording, or of what the source of a live one holds now. @param audio language of its sound */
  hlsUrl(key: string, kind: 'master' | 'held', audio?: string): string;
}

/** A resolved link, with what the response says of a playlist. */
export interface ResolvedLink extends ResourceInformation {
  readonly counts?: PlaylistCounts | undefined;
}

export interface ResolveOptions {
  /** Entries of a list before the page that is wanted. */
  readonly offset?: number | undefined;
  /**
   * How long to wait for the entries of a list; the others have no renditions yet.
   * @default the service's deadline, 25 s
   */
  readonly maxEntryWaitSeconds?: number;
}

export interface StreamOptions {
  readonly clip?: ClipTimes;
  /** Bitrate of an MP3. @default the listed one */
  readonly bitrateKbps?: number;
  /** With title, artist and cover in the file. */
  readonly hasTags?: boolean;
  /** File name without extension. */
  readonly name?: string;
  /** Language of subtitles to embed. */
  readonly subtitles?: string;
  /** Language of the audio, or `all`. */
  readonly audio?: string;
  /** Without the sponsors that viewers have reported. */
  readonly skipsSponsors?: boolean;
  readonly chapter?: number;
  /** Of a live stream: what it holds of the time before now. */
  readonly lastSeconds?: number;
}

/** A part of a rendition. */
export interface ClipTimes {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface InstanceInfo extends AppInfo {
  /** Where other devices reach an instance that was asked by a name of its own machine; absent where they cannot. */
  readonly publicUrl: string | null;
  /** What it does during maintenance, where it says so. */
  readonly progress?: ToolProgress | undefined;
  /** What it reads. */
  readonly sites: ReturnType<typeof sitesOf>;
  /** Links to try. */
  readonly samples: ReturnType<typeof samplesOf>;
}

/** @param base of the instance that serves the page */
export function createApi(base: string): Api {
  const client = createClient({ instance: base, fetch: fetchAnew });
  const send = <T>(act: () => Promise<T>): Promise<T> =>
    act()
      .catch(async (error) => {
        if (error.status !== 401) throw error;
        // A private instance: what asks for its key is loaded on demand.
        const { withAccessKey } = await import('../access/index.ts');
        return withAccessKey(error, act);
      })
      .catch((error) => {
        throw toApiFailure(error);
      });

  return {
    base,
    getAppInfo: (signal) =>
      send(async () => {
        let headers = new Headers();
        const onHeaders = (received: Headers) => {
          headers = received;
        };
        const info = await client.getAppInfo({ signal, onHeaders });
        return {
          ...info,
          progress: progressOf(headers),
          publicUrl: headers.get('x-public-url'),
          sites: sitesOf(headers),
          samples: samplesOf(headers),
        };
      }),
    resolve: (link, signal, { offset, maxEntryWaitSeconds } = {}) =>
      send(async () => {
        let counts: PlaylistCounts | undefined;
        const onHeaders = (headers: Headers) => {
          counts = playlistCountsOf(headers);
        };
        const resource = await client.resolve(link, { signal, offset, maxEntryWaitSeconds, onHeaders });
        return { ...resource, mediaItems: resource.mediaItems.map(withWebLink), counts };
      }),
    getDetails: (link, options) => send(() => client.getDetails(link, options)),
    getSegments: (key) =>
      send(async () => {
        const response = await client.send(`/api/Stream/SkipSegments/${encodeURIComponent(key)}`);
        return (await response.json()).segments;
      }),
    coverUrl: (key) => `${base}/api/Stream/Cover/${encodeURIComponent(key)}`,
    subtitleUrl: (key, format) => `${base}/api/Stream/Subtitle/${encodeURIComponent(key)}?format=${format}`,
    hlsUrl: (key, kind, audio) =>
      `${base}/api/Stream/Hls/${encodeURIComponent(key)}/${kind}.m3u8${audio ? `?audio=${encodeURIComponent(audio)}` : ''}`,
    streamUrl(rendition, { clip, bitrateKbps, hasTags, skipsSponsors, lastSeconds, ...others } = {}) {
      const { name, subtitles, audio, chapter } = others;
      const values = {
        name,
        bitrate: bitrateKbps,
        tags: hasTags,
        subtitles,
        audio,
        chapter,
        start: lastSeconds ? -lastSeconds : clip?.startSeconds,
        end: clip?.endSeconds,
        skip: skipsSponsors && 'sponsor',
      };
      const given = Object.entries(values).filter(([, value]) => value === 0 || value);
      return client.streamUrl(rendition, Object.fromEntries(given) as Record<string, string>);
    },
  };
}

/** Answers have keys and addresses that expire. */
const fetchAnew: typeof fetch = (url, init) =>
  fetch(url, { ...init, cache: 'no-store', referrerPolicy: 'no-referrer' });

/** The page links to the address of an item. */
const withWebLink = (item: MediaInformation): MediaInformation => ({
  ...item,
  requestedUrl: /^https?:/i.test(item.requestedUrl ?? '') ? item.requestedUrl : null,
});
