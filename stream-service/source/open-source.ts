import { isMp4Container } from '@reelay/seekable-media/codecs';
import type { Egress } from '../../core/egress/index.ts';
import { NotFound } from '../../core/errors/index.ts';
import { type Log, silentLog } from '../../core/log/index.ts';
import { capabilitiesOf, type Delivery, type Resource, type Track, type TrackFile } from '../../core/state/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import { peekLimits, singleAttemptLimits } from './attempts.ts';
import { AvailabilityProbes } from './availability-probe.ts';
import { openFile } from './file-source.ts';
import { defaultLimits, type SourceLimits } from './limits.ts';
import { memorySource, openSmallFile } from './memory.ts';
import { createEventLoopLoad, createReadAheadBudgets } from './read-ahead-limits.ts';
import {
  createLiveLists,
  createSegmentFiles,
  type HeldSegments,
  inspectWindow,
  type ListedFilesOptions,
  type LiveLists,
  listLive,
  loadDash,
  loadHls,
  loadWindow,
  type OpenWindow,
  openSegments,
} from './segmented/index.ts';
import type { OpenOptions, OpenRequest, OpenSource, Source } from './source.ts';
import { findTrack } from './track-locator.ts';

/** How each kind of source is opened. */
const openers: Readonly<Record<Delivery, (request: OpenRequest, lists: LiveLists) => Promise<Source>>> = {
  direct: (request) => (request.maxBytes === undefined ? openFile(request) : openSmallFile(request, request.maxBytes)),
  hls: (request, lists) => openSegments(request, hasStart(request.track) ? loadWindow(lists) : loadHls),
  dash: (request, lists) => openSegments(request, hasStart(request.track) ? loadWindow(lists) : loadDash),
};

const hasStart = ({ window }: Track): boolean => Number.isFinite(window?.first);

/** Whether FFmpeg must remux a track before it can be sent, known before its source is open. */
export const needsRemux = (track: Pick<Track, 'delivery' | 'file'>): boolean =>
  !track.file && !capabilitiesOf(track).isFile;

/** Whether a track is a file that this process may mux, or that may have a layout. */
export const isMp4File = (track: Track): boolean => !needsRemux(track) && isMp4Container(track.container);

export interface OpenSourceOptions {
  readonly egress: Pick<Egress, 'request' | 'ownsIdentity'>;
  /** Resolves a resource again, once for all concurrent callers, with the share of the first caller's client. */
  readonly refresh: (resource: Resource, signal?: AbortSignal, client?: string) => Promise<Resource>;
  /** The resource with URLs that have replaced its own. @default the resource as it is */
  readonly latest?: (resource: Resource) => Resource;
  /** Reads a small file as a browser. @default not possible */
  readonly readAsBrowser?: (resource: Resource, track: Track, signal: AbortSignal, client: string) => Promise<Buffer>;
  /** Hosts whose files are read past the first minute before a stream starts: they may stop there. @default none */
  readonly probedHosts?: readonly string[];
  /** @default `defaultLimits` */
  readonly limits?: Partial<SourceLimits>;
  /** Stores what is known of lists of segments. @default each process finds it */
  readonly state?: ListedFilesOptions['state'];
  /** Small requests to one host at once, by which that is found. @default 8 */
  readonly segmentProbes?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
}

/**
 * As which file a list of segments is read. Undefined: it makes none, or it takes too long to know. It is found for later requests as
 * long as its client stays, or `isDetached`.
 */
export type FindFile = (
  resource: Resource,
  track: Track,
  options?: OpenOptions & { readonly isDetached?: boolean },
) => Promise<TrackFile | undefined>;

const PROBES_PER_HOST = 8;

/** Lists the segments that a track has now. */
export type ListSegments = (resource: Resource, track: Track, options?: OpenOptions) => Promise<HeldSegments>;

/** What a host needs to open sources. */
export interface SourceOpeners {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again: an expired URL fails. */
  readonly peekSource: OpenSource;
  /** The segments that a live track lists now, and those that it has listed shortly before. */
  readonly listSegments: ListSegments;
  readonly inspectWindow: OpenWindow;
  readonly findFile: FindFile;
  /** Whether a track is a file that may stop after its first minute, so that it is opened before the status is chosen. */
  readonly isProbed: (track: Track) => boolean;
}

/**
 * Creates the functions that open sources. All sources share one memory budget for reading ahead, of which one client
 * may use half.
 */
export function createSourceOpeners(options: OpenSourceOptions): SourceOpeners {
  const { egress, latest = (resource) => resource, probedHosts = [], now = Date.now, log = silentLog } = options;
  const { state, segmentProbes: probesPerHost = PROBES_PER_HOST } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const budgetOf = createReadAheadBudgets(limits.totalReadAheadBytes);
  const shared = { egress, now, log, eventLoopLoad: createEventLoopLoad() };
  const probes = new AvailabilityProbes(probedHosts, now);

  const lists = createLiveLists();
  const files = createSegmentFiles({ state, lists, probesPerHost }, limits.totalPlaceBytes);

  const createRequest = (
    refresh: OpenSourceOptions['refresh'],
    isRead: boolean,
    [
      stored,
      storedTrack,
      { signal = new AbortController().signal, range = { first: 0 }, maxBytes, client = '' } = {},
    ]: Parameters<OpenSource>,
  ): OpenRequest => {
    const { delivery, window, file } = storedTrack;
    const resource = latest(window?.resource ?? stored);
    const renewed = findTrack(resource, storedTrack);
    const found = renewed?.delivery === delivery ? renewed : undefined;
    return {
      ...shared,
      limits: isRead ? limits : peekLimits(limits),
      refresh: (expired, until) => refresh(expired, until, client),
      identity: resource.egress,
      resource,
      track: found ? { ...found, window, file } : storedTrack,
      client,
      range,
      maxBytes,
      signal,
      readAheadBudget: budgetOf(client),
      probes: isRead ? probes : undefined,
    };
  };

  const openWith =
    (refresh: OpenSourceOptions['refresh'], isRead: boolean): OpenSource =>
    async (...opening) => {
      const request = createRequest(refresh, isRead, opening);
      const { resource, track, client, signal } = request;
      const open = (asked: OpenRequest) =>
        track.file ? files.open(asked, track.file) : openers[track.delivery](asked, lists);
      const { readAsBrowser } = track.isForBrowsers && isRead ? options : {};
      try {
        if (!readAsBrowser) return await open(request);
        // Without retries: a site that limits other clients answers them with 429.
        return await open({ ...request, limits: singleAttemptLimits(limits), refresh: noRefresh }).catch(
          async (error) => {
            signal.throwIfAborted();
            const bytes = await readAsBrowser(resource, track, signal, client).catch((cause) => {
              log.info('Subtitles could not be read as a browser', { error: cause, before: error });
            });
            return bytes ? memorySource(bytes) : open(request);
          },
        );
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    };
  return {
    openSource: openWith(options.refresh, true),
    peekSource: openWith(noRefresh, false),
    listSegments: (...opening) => listLive(createRequest(options.refresh, true, opening), lists),
    inspectWindow: (resource, track, opening) =>
      inspectWindow(createRequest(options.refresh, true, [resource, track, opening]), lists),
    findFile: (resource, track, opening) =>
      files.find(createRequest(options.refresh, true, [resource, track, opening]), opening?.isDetached),
    isProbed: (track) => !needsRemux(track) && probes.isProbed(track.url),
  };
}

const noRefresh = () => Promise.reject(new NotFound('The URL has expired'));

/** Opens a track until the session ends. */
export async function openTrack(
  openSource: OpenSource,
  { resource }: { readonly resource: Resource },
  track: Track,
  session: StreamSession,
  { signal = session.signal, ...options }: Omit<OpenOptions, 'client'> = {},
): Promise<Source> {
  const source = await openSource(resource, track, { ...options, signal, client: session.client });
  session.onClose(() => source.close());
  return source;
}
