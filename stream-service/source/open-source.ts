import { isMp4Container, isQuickTime, mp4HoldsAudio, mp4HoldsVideo } from '@reelay/seekable-media/codecs';
import type { Timeline } from '@reelay/seekable-media/timeline';
import {
  type ByteStore,
  createByteStore,
  createRequests,
  createSegmentFiles,
  DASH,
  type FileSource,
  type FileWish,
  HLS,
  memorySource,
  type OpenOptions,
  openFile,
  openSegments,
  openSmallFile,
  readTextList,
  type Source,
  type SourceLimits,
  type SourceTrack,
  singleAttemptLimits,
  type TableRequest,
  WEBM,
} from '@reelay/source';
import { type Name, nameOf, type SourceVersion } from '@reelay/source/names';
import type { TrackFile } from '@reelay/source/track';
import { hostMatcher, memoryShares } from '../../core/config/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import { NotFound, UpstreamError } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import { parse } from '../../core/parsing/index.ts';
import { capabilitiesOf, type Resource, type State, type Track } from '../../core/state/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import { createLiveLists, inspectWindow, listLive, type WindowFacts, windowKind } from './live-lists.ts';

/** Whether FFmpeg must remux a track before it can be sent, known before its source is open. */
export const needsRemux = (track: Pick<Track, 'delivery' | 'file'>): boolean =>
  !track.file && !capabilitiesOf(track).isFile;

/** ASF: MP4 holds none of its usual codecs, and its files are not read for them. */
const ASF = /^(?:asf|wmv|wma)$/i;

/** Whether MP4 can contain what a file has, as far as that is known. */
export const isHeldByMp4 = ({ container, video, audio }: Pick<Track, 'container' | 'video' | 'audio'>): boolean =>
  !ASF.test(container) && (!video || mp4HoldsVideo(video.codec)) && (!audio || mp4HoldsAudio(audio.codec));

/** Whether a track is a file that this process may mux, or that may have a layout. */
export const isMp4File = (track: Track): boolean =>
  !needsRemux(track) && isMp4Container(track.container) && (!isQuickTime(track.container) || isHeldByMp4(track));

/** An operation on one track. `range` and `maxBytes` apply to opening only. */
type TrackOperation<Result> = (resource: Resource, track: Track, options?: TrackOptions) => Promise<Result>;

interface TrackOptions extends Omit<OpenOptions, 'isPeek'>, FileWish {
  /** Reads a small file, or a list of text, into memory as a whole, without ranges. @default it is not */
  readonly maxBytes?: number;
}

/**
 * Opens a track and waits for its first bytes.
 * @throws UpstreamError, UrlExpired, NotFound
 */
export type OpenSource = TrackOperation<Source>;

type AttachmentState = Pick<State, 'getAttachment' | 'putAttachment' | 'dropAttachment'>;

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
  readonly state?: AttachmentState | undefined;
  /** Small requests to one host at once, by which that is found. @default 8 */
  readonly segmentProbes?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
}

/** What a host needs to open sources. */
export interface SourceOpeners {
  /** What was read and computed, for all streams. */
  readonly store: ByteStore;
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again: an expired URL fails. */
  readonly peekSource: OpenSource;
  /** The segments that a live track lists now, and those that it has listed shortly before. */
  readonly listSegments: TrackOperation<Timeline>;
  /** @throws NotFound when its segments are no longer held, and what reading the list throws */
  readonly inspectWindow: TrackOperation<WindowFacts>;
  /**
   * The file that a complete list of segments forms. Undefined: it forms none, or it takes too long to know and is not needed. It is found
   * for later requests as long as its client stays, or `isDetached`.
   */
  readonly findFile: TrackOperation<TrackFile | undefined>;
  /** Whether a track is a file that may stop after its first minute, so that it is opened before the status is chosen. */
  readonly isProbed: (track: Track) => boolean;
}

/** The store has so many times the bytes that segments take while streams use them. */
const STORE_SHARE = 2.5;

/** Segment lists by delivery. A direct file is divided at its Matroska cues. */
const SEGMENT_LISTS = { direct: WEBM, hls: HLS, dash: DASH } as const;

/** The request of a track, with what only this service knows of it. */
interface TrackRequest extends TableRequest {
  readonly resource: Resource;
  readonly stored: Track;
}

/**
 * Creates the functions that open sources. All sources share one memory budget for reading ahead, of which one client
 * may use half.
 */
export function createSourceOpeners(options: OpenSourceOptions): SourceOpeners {
  const { latest = (resource) => resource, probedHosts = [], log, state } = options;
  const { readAheadBytes, segmentBytes } = memoryShares();
  const limits = { totalReadAheadBytes: readAheadBytes, totalSegmentBytes: segmentBytes, ...options.limits };
  const isProbed = hostMatcher(probedHosts);
  const prepare = createRequests({ ...options, limits, isProbed, parse });
  const lists = createLiveLists();
  const store = createByteStore(STORE_SHARE * limits.totalSegmentBytes);
  const { totalSegmentBytes: memoryBytes } = limits;
  const files = createSegmentFiles({ memoryBytes, store, probesPerHost: options.segmentProbes });

  const createRequest = (
    [stored, storedTrack, opening = {}]: Parameters<OpenSource>,
    refresh = options.refresh,
    isPeek = false,
  ): TrackRequest => {
    const { delivery, window, file } = storedTrack;
    const resource = latest(window?.resource ?? stored);
    const renewed = findTrack(resource, storedTrack);
    const track = renewed?.delivery === delivery ? { ...renewed, window, file } : storedTrack;
    const list = listOf(resource, track);
    // Other processes may not know the segments of a window any more, and what a file says itself need not be stored.
    const isStored = state && !window && !capabilitiesOf(track).isFile;
    const found = sourceTrack(resource, track, (expired, signal) => refresh(expired, signal, opening.client));
    return {
      ...prepare({ ...found, id: idOf(resource, track) }, { ...opening, isPeek }),
      kind: window ? windowKind(lists, { ...window, list }, SEGMENT_LISTS[delivery]) : SEGMENT_LISTS[delivery],
      tables: isStored ? tablesOf(state, resource) : undefined,
      resource,
      stored: track,
    };
  };

  const openWith =
    (refresh: OpenSourceOptions['refresh'], isPeek: boolean): OpenSource =>
    async (...opening) => {
      const request = createRequest(opening, refresh, isPeek);
      const { resource, stored, client, signal } = request;
      const [, , { maxBytes } = {}] = opening;
      const open = (asked: TrackRequest): Promise<Source> => {
        if (stored.file) return files.open(asked, stored.file, stored.window?.recordedAtMs);
        const { isFile } = capabilitiesOf(stored);
        if (maxBytes === undefined) return isFile ? openFile(asked) : openSegments(asked);
        return isFile ? openSmallFile(asked, maxBytes) : readTextList(asked, maxBytes).then(memorySource);
      };
      const { readAsBrowser } = stored.isForBrowsers && !isPeek ? options : {};
      try {
        if (!readAsBrowser) return await open(request);
        // Without retries: a site that limits other clients answers them with 429.
        return await open({ ...request, limits: singleAttemptLimits(request.limits) }).catch(async (error) => {
          signal.throwIfAborted();
          const bytes = await readAsBrowser(resource, stored, signal, client).catch((cause) => {
            log?.info('Reading subtitles through yt-dlp failed, retrying directly', { error: cause, before: error });
          });
          return bytes ? memorySource(bytes) : open(request);
        });
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    };
  return {
    store,
    openSource: openWith(options.refresh, false),
    peekSource: openWith(noRefresh, true),
    listSegments: (...opening) => listLive(createRequest(opening), lists, listOf(opening[0], opening[1])),
    inspectWindow: (...opening) => inspectWindow(createRequest(opening)),
    findFile: (...opening) => files.find(createRequest(opening), opening[2]),
    isProbed: (track) => !needsRemux(track) && isProbed(track.url),
  };
}

/**
 * Stands for all that selects the bytes of a track, which each resolve of its resource finds again: a resource has one link and one item
 * of it, and a format of each id. What answers differ by besides, such as the outgoing address, is in the version that a source states.
 */
const idOf = ({ id }: Pick<Resource, 'id'>, { formatId, window }: Pick<Track, 'formatId' | 'window'>): string =>
  JSON.stringify([id, formatId, ...(window ? [window.first, window.last, window.part] : [])]);

/** Names the live list of a track: its URLs are bound to the address that it was resolved by. */
const listOf = (resource: Resource, { formatId, egress = resource.egress }: Track): Name =>
  nameOf([{ track: { id: idOf(resource, { formatId }), url: '', egress } }], 'live list', egress);

/**
 * A track in the version that its open source has, for the names of what is made of it.
 * @param source absent: the name is of the track, and what has it is compared with the source
 */
export const versionOf = (
  resource: Pick<Resource, 'id'>,
  track: Pick<Track, 'formatId' | 'url' | 'window' | 'file'>,
  source?: Pick<FileSource, 'size' | 'validator'>,
): SourceVersion => {
  const id = JSON.stringify([idOf(resource, track), track.file && [track.file.isAudioAlone]]);
  return { track: { id, url: track.url }, version: source && `${source.size} ${source.validator}` };
};

/** The tables of the lists of a resource. */
const tablesOf = (state: AttachmentState, { id }: Resource): TableRequest['tables'] => ({
  get: (name) => state.getAttachment(id, `places-${name}`),
  put: (name, bytes) => state.putAttachment(id, `places-${name}`, bytes),
  drop: (name) => state.dropAttachment(id, `places-${name}`),
});

/** A track as a later resolve has it. */
const findTrack = ({ tracks }: Pick<Resource, 'tracks'>, { formatId }: Track): Track | undefined =>
  tracks.find((track) => track.formatId === formatId);

/** A stored track, whose URLs are found again by resolving its resource. */
const sourceTrack = (resource: Resource, track: Track, refresh: OpenSourceOptions['refresh']): SourceTrack => ({
  ...track,
  egress: track.egress ?? resource.egress,
  isLive: resource.isLive,
  durationSeconds: track.durationSeconds ?? resource.durationSeconds,
  async renew(signal) {
    const renewed = await refresh(resource, signal);
    const found = findTrack(renewed, track);
    if (!found) throw new NotFound('The format is no longer available', { reason: 'gone' });
    if (found.delivery !== track.delivery) throw new UpstreamError('The delivery of the format has changed');
    return sourceTrack(renewed, found, refresh);
  },
});

const noRefresh = () => Promise.reject(new NotFound('The URL has expired'));

/** A file of known size. */
export type SizedFile = FileSource & { readonly size: number };

/** Opens a track until the session ends. */
export async function openTrack(
  openSource: OpenSource,
  { resource }: { readonly resource: Resource },
  track: Track,
  session: StreamSession,
  { signal = session.signal, ...options }: Omit<TrackOptions, 'client'> = {},
): Promise<Source> {
  const source = await openSource(resource, track, { ...options, signal, client: session.client });
  session.onClose(() => source.close());
  return source;
}
