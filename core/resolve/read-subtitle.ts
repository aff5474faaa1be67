import { createSemaphore } from '@reelay/concurrency';
import { discardResponse } from '@reelay/guarded-fetch';
import { type Cue, InvalidSubtitles, MAX_SUBTITLE_BYTES } from '@reelay/seekable-media/text/subtitles';
import { requestHeaders } from '@reelay/source/request-headers';
import type { Egress } from '../egress/index.ts';
import { NotFound, ParsingLimitExceeded, UpstreamError, UrlExpired } from '../errors/index.ts';
import { parse, READ_CUES } from '../parsing/index.ts';
import { capabilitiesOf, type Resource, type Subtitle, type Track } from '../state/index.ts';
import { readBody } from './probe/index.ts';
import type { Refresher } from './refresh-resource.ts';

export interface SubtitleReader {
  /**
   * Reads the cues of a subtitle file, resolving again when its URL has expired.
   * @param client whose share of the readers and of yt-dlp is used
   * @throws UpstreamError when it is not a subtitle file, UrlExpired, EgressRefused, and as `Refresher.refresh`
   */
  readSubtitle(resource: Resource, subtitle: Subtitle, signal: AbortSignal, client: string): Promise<readonly Cue[]>;
  /**
   * Reads a subtitle file as a browser, through yt-dlp and the outgoing identity of its resource.
   * @param client whose share of yt-dlp is used
   * @throws as `LinkResolver.resolve`
   */
  readAsBrowser(resource: Resource, track: Track, signal: AbortSignal, client: string): Promise<Buffer>;
}

interface SubtitleReaderOptions extends Refresher, Pick<SubtitleReader, 'readAsBrowser'> {
  readonly egress: Pick<Egress, 'request'>;
}

/** Files that are read at once, each of which may take some 20 MB until it is parsed, and those of one client. */
const READERS = { permits: 8, maxPerClient: 2 };
const REFUSED = new Set([401, 403, 404, 410]);

/** Creates `readSubtitle`, for operations whose answer contains the text. Streams open their sources instead. */
export function createSubtitleReader(options: SubtitleReaderOptions): SubtitleReader['readSubtitle'] {
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
    const bytes = await readBody(response, MAX_SUBTITLE_BYTES + 1);
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

  return async (resource, { formatId }, signal, client) => {
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
