import type {
  AppInfo,
  MediaDetails,
  MediaInformation,
  MediaRendition,
  Playback,
  ResourceInformation,
  Selection,
  StreamParameters,
} from './api-types.ts';
import { failureOf, ReelayError, readText } from './failure.ts';
import { type RetryOptions, withRetries } from './retry.ts';

export interface ClientOptions {
  /** Origin of the instance, or the path it is served below: `https://reelay.example`. */
  readonly instance: string;
  /** For a private instance. It is sent to the instance alone. */
  readonly accessKey?: string | undefined;
  /** @default the one of the runtime */
  readonly fetch?: typeof fetch | undefined;
}

export interface ResolveOptions extends RetryOptions {
  /**
   * Answer after about this time with the entries of a list that are resolved by then: the others have neither `video` nor `audio`.
   * @default the deadline of the instance, 25 s
   */
  readonly maxEntryWaitSeconds?: number | undefined;
  /** Entries of a list to leave out at its beginning. @default 0 */
  readonly offset?: number | undefined;
  /** Called with the headers of the response: `X-Playlist` says what a list has besides its entries, `X-Maintenance` how far the maintenance of the instance is. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

/** What names a rendition in the URL of its stream. */
type StreamedRendition = Pick<MediaRendition, 'key'> & Partial<Pick<MediaRendition, 'convertTo'>>;

/** Client of one instance. Every method throws `ReelayError`, or the reason of the signal when it is aborted. */
export interface Client {
  /** As given, without a slash at its end. */
  readonly instance: string;
  /** Whether it sends an access key. */
  readonly hasAccessKey: boolean;
  getAppInfo(options?: Omit<ResolveOptions, 'maxEntryWaitSeconds' | 'offset'>): Promise<AppInfo>;
  /** Metadata and renditions of a link. */
  resolve(link: string, options?: ResolveOptions): Promise<ResourceInformation>;
  /** Description, date, chapters, thumbnails and subtitles of an item; what is known of the unavailable entries of a list. */
  getDetails(link: string, options?: ResolveOptions): Promise<MediaDetails>;
  /** What a player can play side by side or as one file: every track can be sought in. */
  getPlayback(link: string, options?: RetryOptions): Promise<Playback>;
  /** A link as a feed, whose links work without the access key for a year. */
  getFeed(
    link: string,
    format: 'rss' | 'm3u8' | 'metalink',
    options?: RetryOptions & Pick<ResolveOptions, 'offset'>,
  ): Promise<string>;
  /** The absolute URL of the stream that `/api/Get` redirects to. Not in browsers, which do not show redirects to pages. */
  locate(link: string, selection?: Selection, options?: RetryOptions): Promise<string>;
  /** URL that redirects to the stream, for players and download managers. A private instance requires its key there. */
  getUrl(link: string, selection?: Selection): string;
  /** URL of the stream of a rendition. Any key works there, also one whose `urlType` is `Combined`. */
  streamUrl(rendition: StreamedRendition, parameters?: StreamParameters): string;
  /** Sends a request with the access key. @param to a path or an absolute URL @throws ReelayError for a status from 400 */
  send(to: string, init?: RequestInit): Promise<Response>;
}

/** The instance answers a resolve within 25 s; the rest is for the network. */
const TIMEOUT_MS = 45_000;
/** Three times what an instance sends at most. */
const MAX_JSON_BYTES = 16_000_000;

/** @throws TypeError when `instance` is not an http or https URL */
export function createClient({ instance, accessKey, fetch = globalThis.fetch }: ClientOptions): Client {
  const base = baseOf(instance);
  const { origin, pathname } = new URL(base);
  /** Paths in answers begin at the origin where the instance knows its own path, else below it. */
  const absolute = (path: string) => (pathname !== '/' && path.startsWith(`${pathname}/`) ? origin : base) + path;

  const send: Client['send'] = async (to, init = {}) => {
    const url = new URL(to.startsWith('/') ? absolute(to) : to);
    const headers = new Headers(init.headers);
    if (accessKey && url.origin === origin) headers.set('authorization', `Bearer ${accessKey}`);
    const response = await fetch(url, { ...init, headers }).catch((cause: unknown) => {
      throw connectionFailure(cause, base, init.signal);
    });
    if (response.status >= 400) throw await failureOf(response);
    return response;
  };

  const request = <T>(
    path: string,
    { signal, ...retry }: RetryOptions,
    init: RequestInit,
    read: (response: Response) => Promise<T>,
  ): Promise<T> =>
    withRetries(
      async () => {
        const timeout = AbortSignal.timeout(TIMEOUT_MS);
        const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
        const response = await send(path, { ...init, signal: either });
        return read(response).catch((cause: unknown) => {
          if (cause instanceof ReelayError) throw cause;
          const isTooLong = cause instanceof RangeError;
          if (!isTooLong && !(cause instanceof SyntaxError)) throw connectionFailure(cause, base, either);
          const message = `${base} sent ${isTooLong ? 'too much' : 'no'} JSON`;
          throw new ReelayError('unexpected-response', { message }, { cause });
        });
      },
      { ...retry, signal },
    );

  const getJson = <T>(
    path: string,
    { onHeaders, ...options }: Pick<ResolveOptions, 'onHeaders'> & RetryOptions,
    headers: Record<string, string> = {},
  ): Promise<T> =>
    request(path, options, { headers: { accept: 'application/json', ...headers } }, async (response) => {
      onHeaders?.(response.headers);
      return JSON.parse(await readText(response, MAX_JSON_BYTES)) as T;
    });

  const fetchLink = <T>(
    operation: string,
    link: string,
    { maxEntryWaitSeconds: wait, offset, ...options }: ResolveOptions = {},
  ): Promise<T> =>
    getJson(
      pathOf(`Fetch/${operation}`, link, pageOf(offset)),
      options,
      wait === undefined ? {} : { prefer: `wait=${wait}` },
    );

  return {
    instance: base,
    hasAccessKey: accessKey !== undefined,
    send,
    getAppInfo: (options = {}) => getJson('/api/App', options),
    resolve: (link, options) => fetchLink('GetResource', link, options),
    getDetails: (link, options) => fetchLink('GetDetails', link, options),
    getPlayback: (link, options = {}) => getJson(pathOf('Fetch/GetPlayback', link), options),
    getFeed: (link, format, { offset, ...options } = {}) =>
      request(pathOf('Feed', link, { format, ...pageOf(offset) }), options, {}, (response) =>
        readText(response, MAX_JSON_BYTES),
      ),
    locate: (link, selection = {}, options = {}) =>
      request(pathOf('Get', link, selection), options, { redirect: 'manual' }, async (response) => {
        const location = response.headers.get('location');
        await response.body?.cancel();
        if (location === null)
          throw new ReelayError('unexpected-response', { message: `${base} did not name a stream` });
        return location.startsWith('/') ? absolute(location) : new URL(location, base).href;
      }),
    getUrl: (link, selection = {}) => base + pathOf('Get', link, selection),
    streamUrl({ key, convertTo }, parameters = {}) {
      const query = new URLSearchParams({ ...(convertTo && { format: convertTo }), ...parameters });
      const path = `${base}/api/Stream/Media/${encodeURIComponent(key)}`;
      return query.size > 0 ? `${path}?${query}` : path;
    },
  };
}

const pageOf = (offset: number | undefined) => (offset ? { offset: String(offset) } : undefined);

const pathOf = (operation: string, link: string, parameters: Selection | { readonly format?: string } = {}): string =>
  `/api/${operation}?${new URLSearchParams({ url: link, ...parameters })}`;

function baseOf(instance: string): string {
  const url = new URL(instance);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError(`${instance} is not an http or https URL`);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
};

/** An abort stays as it is; a timeout counts as unreachable. */
function connectionFailure(cause: unknown, base: string, signal: AbortSignal | null | undefined): unknown {
  const isTimeout = signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  if (signal?.aborted && !isTimeout) return signal.reason;
  const { code } = Object((cause as Error).cause) as { code?: unknown };
  const known = typeof code === 'string' ? `: ${CONNECTION_FAILURES[code] ?? code}` : '';
  const reason = isTimeout ? ' in time' : known;
  return new ReelayError('unreachable', { message: `${base} does not respond${reason}` }, { cause });
}

export interface ResolveListOptions extends Omit<ResolveOptions, 'maxEntryWaitSeconds'> {
  /** Called with what is there after each response. */
  readonly onUpdate?: ((list: ResolvedList) => void) | undefined;
}

/** A link of which every entry is resolved that can be. */
export interface ResolvedList extends ResourceInformation {
  /** Entries without renditions; zero: the list is complete. */
  readonly pendingEntries: number;
}

/** Short at first, so that entries appear soon; later requests wait for the deadline of the instance. */
const ENTRY_WAITS_SECONDS = [3, 6, 12];
/** A list of the greatest length takes fewer, at a few entries a second. */
const MAX_REQUESTS = 40;

/**
 * Resolves a link until every entry has renditions. An instance answers what it has resolved by its deadline, and continues with
 * the rest when it is asked again. An entry that is still without renditions after a whole deadline stays so: resolved by its own
 * `requestedUrl`, it says why.
 */
export async function resolveList(
  client: Pick<Client, 'resolve'>,
  link: string,
  { onUpdate, ...options }: ResolveListOptions = {},
): Promise<ResolvedList> {
  let pendingBefore = Number.POSITIVE_INFINITY;
  for (let number = 0; ; number++) {
    const maxEntryWaitSeconds = ENTRY_WAITS_SECONDS[number];
    const resource = await client.resolve(link, { ...options, maxEntryWaitSeconds });
    const pendingEntries = resource.mediaItems.filter((item) => !hasRenditions(item)).length;
    const list = { ...resource, pendingEntries };
    onUpdate?.(list);
    const isStuck = maxEntryWaitSeconds === undefined && pendingEntries >= pendingBefore;
    if (pendingEntries === 0 || isStuck || number + 1 >= MAX_REQUESTS) return list;
    pendingBefore = pendingEntries;
  }
}

/** Whether an entry of a list is resolved. */
const hasRenditions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);
