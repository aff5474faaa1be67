import type { AppInfo, MediaRendition } from './contract.ts';
import { ApiFailure, type ToolProgress } from './failure.ts';
import { parsePlaylistCounts, type ResolvedLink } from './playlist-counts.ts';
import { type Fetch, fetchResponse, readJson } from './responses.ts';
import { asAppInfo, asResource, asWebUrl } from './validate.ts';

export { ApiFailure, type FailureFacts, type FailureKind, type ToolProgress } from './failure.ts';
export type { Fetch } from './responses.ts';

/** Client of one instance. Every method throws `ApiFailure`, or the signal's reason when aborted. */
export interface Api {
  /** Origin and path without a trailing slash, such as `https://reelay.example`. */
  readonly base: string;
  getAppInfo(signal?: AbortSignal): Promise<InstanceInfo>;
  resolve(link: string, signal?: AbortSignal, options?: ResolveOptions): Promise<ResolvedLink>;
  /** A JSON object of another resolving operation, not validated. @param path with its query */
  getJson(path: string, signal?: AbortSignal): Promise<unknown>;
  /** URL of the cover of the item that a rendition belongs to, for saving. @param key of the rendition */
  coverUrl(key: string): string;
  /** URL of a subtitle file. */
  subtitleUrl(key: string, format: 'vtt' | 'srt' | 'txt'): string;
  /** Stream URL of a rendition, or of a part of it. Media serves combined renditions with ranges where it can. */
  streamUrl(rendition: Pick<MediaRendition, 'key' | 'convertTo'>, options?: StreamOptions): string;
  /** HLS of what the source of a live rendition holds now. */
  heldUrl(key: string): string;
}

export interface ResolveOptions {
  /**
   * How long to wait for the entries of a list; the others have no renditions yet. Only where the instance serves the page: a
   * request with this header to another origin needs a preflight, which earlier versions refuse.
   * @default the service's deadline, 25 s
   */
  readonly maxEntryWaitSeconds?: number;
}

/** Only for what the instance offers: another version may refuse parameters that it does not know. */
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
  /** Categories of segments to leave out. */
  readonly skip?: readonly string[];
  /** Categories of segments that become chapters. */
  readonly mark?: readonly string[];
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
  readonly publicUrl?: string | undefined;
  /** What it does during maintenance, where it says so. */
  readonly progress?: ToolProgress;
}

const APP_TIMEOUT_MS = 15_000;
/** The service's deadline is 25 s; the rest is for the network. */
const RESOLVE_TIMEOUT_MS = 45_000;
const MAX_LINK_CHARACTERS = 4096;

/** @param base as returned by `readBaseUrl` */
export function createApi(base: string, { fetch = globalThis.fetch }: { readonly fetch?: Fetch } = {}): Api {
  const isSameOrigin = URL.parse(base)?.origin === globalThis.location?.origin;
  const get = async (path: string, milliseconds: number, signal?: AbortSignal, mayAsk = false, prefer?: string) => {
    const send = (headers?: Readonly<Record<string, string>>) => {
      const timeout = AbortSignal.timeout(milliseconds);
      return fetchResponse((url, init) => fetch(url, init), base + path, {
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        headers: { accept: 'application/json', ...(prefer && isSameOrigin && { prefer }), ...headers },
        cache: 'no-store',
      });
    };
    const response = await send();
    // A private instance: what asks for its key is loaded on demand.
    if (response.status !== 401) return response;
    const { withAccessKey } = await import('../access/index.ts');
    return withAccessKey({ response, send, mayAsk });
  };

  return {
    base,
    async getAppInfo(signal) {
      const response = await get('/api/App', APP_TIMEOUT_MS, signal);
      const info = await readJson(response, 'app');
      const progress = readProgress(response.headers.get('x-maintenance') ?? '');
      return {
        ...validated(asAppInfo, info),
        ...(progress && { progress }),
        publicUrl: asWebUrl(response.headers.get('x-public-url')) ?? undefined,
      };
    },
    async resolve(link, signal, { maxEntryWaitSeconds: wait } = {}) {
      if (!isLink(link)) throw new ApiFailure('bad-link');
      const path = `/api/Fetch/GetResource?url=${encodeURIComponent(link)}`;
      const response = await get(
        path,
        RESOLVE_TIMEOUT_MS,
        signal,
        true,
        wait === undefined ? undefined : `wait=${wait}`,
      );
      const counts = parsePlaylistCounts(response.headers.get('x-playlist'));
      const resource = validated(asResource, await readJson(response, 'resolve'));
      return counts ? { ...resource, counts } : resource;
    },
    getJson: async (path, signal) => readJson(await get(path, RESOLVE_TIMEOUT_MS, signal, true), 'resolve'),
    coverUrl: (key) => `${base}/api/Stream/Cover/${encodeURIComponent(key)}`,
    subtitleUrl: (key, format) => `${base}/api/Stream/Subtitle/${encodeURIComponent(key)}?format=${format}`,
    heldUrl: (key) => `${base}/api/Stream/Hls/${encodeURIComponent(key)}/held.m3u8`,
    streamUrl({ key, convertTo }, { clip, bitrateKbps, hasTags, skip, mark, ...others } = {}) {
      const { name, subtitles, audio, chapter, lastSeconds } = others;
      const values = {
        name,
        format: convertTo,
        bitrate: bitrateKbps,
        tags: hasTags,
        subtitles,
        audio,
        chapter,
        start: lastSeconds ? -lastSeconds : clip?.startSeconds,
        end: clip?.endSeconds,
        skip: skip?.join(),
        mark: mark?.join(),
      };
      const query = new URLSearchParams();
      for (const [parameter, value] of Object.entries(values))
        if (value === 0 || value) query.set(parameter, String(value));
      const path = `${base}/api/Stream/Media/${encodeURIComponent(key ?? '')}`;
      return query.size > 0 ? `${path}?${query}` : path;
    },
  };
}

function readProgress(header: string): ToolProgress | undefined {
  const [, step, tool, received, total] =
    /^step=(fetch|install|check), tool="([^"]*)"(?:, received=(\d+))?(?:, total=(\d+))?$/.exec(header) ?? [];
  if (step === undefined || tool === undefined) return undefined;
  return {
    step: step as ToolProgress['step'],
    tool,
    ...(received !== undefined && { receivedBytes: Number(received) }),
    ...(total !== undefined && { totalBytes: Number(total) }),
  };
}

const isLink = (link: string): boolean =>
  link.length <= MAX_LINK_CHARACTERS && /^https?:\/\/[^/?#\\]/i.test(link) && URL.canParse(link) && link.isWellFormed();

/** @throws ApiFailure when the answer is not what the contract says: the server is no Reelay, or hostile */
function validated<T>(read: (value: unknown) => T, value: unknown): T {
  try {
    return read(value);
  } catch (cause) {
    throw new ApiFailure('unreachable', {}, { cause });
  }
}
