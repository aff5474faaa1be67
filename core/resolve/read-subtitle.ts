import { createSemaphore } from '@reelay/concurrency';
import { discardResponse } from '@reelay/guarded-fetch';
import { type Cue, InvalidSubtitles, MAX_SUBTITLE_BYTES } from '@reelay/seekable-media/subtitles';
import { requestHeaders } from '@reelay/source/request-headers';
import type { Egress } from '../egress/index.ts';
import { NotFound, ParsingLimitExceeded, UpstreamError, UrlExpired } from '../errors/index.ts';
import { parse, READ_CUES } from '../parsing/index.ts';
import { capabilitiesOf, type Resource, type Subtitle, type Track } from '../state/index.ts';
import type { createRefresher } from './link/index.ts';
import { collect } from './probe/index.ts';

/** As `Resolver.readSubtitle`. */
export type ReadSubtitle = (
  resource: Resource,
  subtitle: Subtitle,
  signal: AbortSignal,
  client: string,
) => Promise<readonly Cue[]>;

interface SubtitleReaderOptions extends ReturnType<typeof createRefresher> {
  readonly egress: Pick<Egress, 'request'>;
  /** As `Resolver.readAsBrowser`. */
  readonly readAsBrowser: (resource: Resource, track: Track, signal: AbortSignal, client: string) => Promise<Buffer>;
}

/** Files that are read at once, each of which may take some 20 MB until it is parsed, and those of one client. */
const READERS = { permits: 8, maxPerClient: 2 };
const REFUSED = new Set([401, 403, 404, 410]);

/** Creates `Resolver.readSubtitle`, for operations whose answer contains the text. Streams open their sources instead. */
export function createSubtitleReader(options: SubtitleReaderOptions): ReadSubtitle {
  const { egress, refresh, latest, readAsBrowser } = options;
  const readers = createSemaphore(READERS);

  const download = async (resource: Resource, track: Track, signal: AbortSignal, client: string): Promise<Buffer> => {
    if (!capabilitiesOf(track).isFile) return downloadList(resource, track, signal, client);
    const response = await egress.request(track.url, {
      headersFor: requestHeaders(track),
      identity: track.egress ?? resource.egress,
      signal,
      isDecoded: true,
    });
    if (response.status !== 200) {
      discardResponse(response);
      if (REFUSED.has(response.status)) throw new UrlExpired(response.status === 404 || response.status === 410);
      throw new UpstreamError(`The subtitle file was answered with ${response.status}`);
    }
    const bytes = await collect(response, MAX_SUBTITLE_BYTES + 1);
    if (bytes.length > MAX_SUBTITLE_BYTES) throw new UpstreamError('The subtitle file is too large');
    return bytes;
  };

  const downloadList = async (resource: Resource, track: Track, signal: AbortSignal, client: string) => {
    // Most subtitles need nothing of it.
    const { createRequests, HLS, readTextList } = await import('@reelay/source');
    const found = { ...track, egress: track.egress ?? resource.egress };
    const request = createRequests({ egress, parse })(found, { signal, client });
    return readTextList({ ...request, kind: HLS }, MAX_SUBTITLE_BYTES);
  };

  const readFile = async (stored: Resource, formatId: string, signal: AbortSignal, client: string): Promise<Buffer> => {
    const resource = latest(stored);
    const track = trackOf(resource, formatId);
    try {
      return await download(resource, track, signal, client);
    } catch (error) {
      signal.throwIfAborted();
      if (track.isForBrowsers) return readAsBrowser(resource, track, signal, client);
      if (!(error instanceof UrlExpired)) throw error;
      const refreshed = await refresh(resource, signal, client);
      return download(refreshed, trackOf(refreshed, formatId), signal, client);
    }
  };

  return async (resource, { formatId }, signal, client): Promise<readonly Cue[]> => {
    const permit = await readers.acquire(client, signal);
    try {
      const bytes = await readFile(resource, formatId, signal, client);
      return JSON.parse(await parse(READ_CUES, bytes, { client, signal }));
    } catch (error) {
      const isInvalid = error instanceof InvalidSubtitles || error instanceof ParsingLimitExceeded;
      throw isInvalid ? new UpstreamError('The source is not a subtitle file', { cause: error }) : error;
    } finally {
      permit.release();
    }
  };
}

function trackOf({ tracks }: Resource, formatId: string): Track {
  const track = tracks.find((found) => found.formatId === formatId);
  if (!track) throw new NotFound('The page no longer has the subtitles', { reason: 'gone' });
  return track;
}
