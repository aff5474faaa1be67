import { collectInSlices, ownTurn } from '@reelay/concurrency';
import { dashTimeline, unpackDashSegments } from '@reelay/seekable-media/dash';
import { EncryptedPlaylist, PlaylistError, unpackHlsPlaylist } from '@reelay/seekable-media/hls';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { unpackTable } from '@reelay/seekable-media/segment-file';
import { READ_HLS_PLAYLIST, READ_WEBM } from '@reelay/seekable-media/tasks';
import { isSameMedia, type Timeline } from '@reelay/seekable-media/timeline';
import type { WebmParts } from '@reelay/seekable-media/webm';
import { probeOffset } from '../availability-probe.ts';
import { createPlaylistCheck } from '../completeness.ts';
import { UnsupportedRendition, UpstreamError, UrlExpired } from '../errors.ts';
import { fetchBuffer } from '../memory.ts';
import type { OpenRequest } from '../source.ts';
import type { SourceTrack } from '../track.ts';
import { TrackLocator } from '../track-locator.ts';
import {
  createRangeRequirement,
  fixedTarget,
  type RangeRequirement,
  type UpstreamTarget,
} from '../upstream-request.ts';

interface LoadOptions extends OpenRequest {
  readonly rangeRequirement: RangeRequirement;
  /** The timeline before this load. */
  readonly previous: Timeline | undefined;
}

/** Reads the list of segments of a track. @throws UrlExpired when the track must be renewed */
type LoadTimeline<List extends Timeline = Timeline> = (
  options: LoadOptions,
  track: SourceTrack,
  signal: AbortSignal,
) => Promise<List>;

/** How a segment list is loaded: from HLS, DASH, or the cues of Matroska. */
export interface ListKind<List extends Timeline = Timeline> {
  readonly load: LoadTimeline<List>;
  /** The list is part of the resolved track, so reloading it means resolving again. @default false */
  readonly isRenewed?: boolean;
  /** All segments are byte ranges of one file. @default false */
  readonly isFile?: boolean;
}

/** What opening a list needs. */
export interface ListRequest extends OpenRequest {
  readonly kind: ListKind;
}

/** The parts of a file. */
export interface FileTimeline extends Timeline {
  /** Packed. */
  readonly table: Buffer;
  /** What is known of it, so that its parts are read of this version alone. */
  readonly file: Pick<UpstreamTarget, 'entity' | 'seen'> & { readonly validator: string };
}

/** A master playlist names media playlists, never another master playlist (RFC 8216 §4.3.4). */
const MAX_PLAYLISTS = 2;

/** Fetches and parses an HLS playlist; for a master playlist, its best variant. */
const loadHls: LoadTimeline = async (options, track, signal) => {
  const { client, limits, parse, rangeRequirement } = options;
  const { maxPlaylistBytes, maxSegments } = limits;
  let url = track.url;
  for (let count = 0; count < MAX_PLAYLISTS; count++) {
    const target = fixedTarget({ url, track, generation: 0 }, { rangeRequirement });
    const playlistOptions = { ...options, target, createCheck: createPlaylistCheck };
    const { bytes, url: baseUrl } = await fetchBuffer(playlistOptions, maxPlaylistBytes, signal);
    const playlist = await parse(READ_HLS_PLAYLIST, { bytes, maxSegments }, { client, signal })
      .then((packed) => unpackHlsPlaylist(packed, baseUrl))
      .catch((error) => {
        if (error instanceof EncryptedPlaylist) throw new UnsupportedRendition(`${error.message}.`, { cause: error });
        throw error instanceof PlaylistError ? new UpstreamError('Invalid HLS playlist', { cause: error }) : error;
      });
    if (playlist.kind === 'media') return { ...playlist, segments: await collectInSlices(playlist.segments) };
    url = playlist.bestUrl;
  }
  throw new UpstreamError('Master playlist names another master playlist');
};

/** Takes the fragments that the track lists. None: renewing restores them. */
const loadDash: LoadTimeline = async ({ previous, track }, { fragments, fragmentBaseUrl }) => {
  // An earlier version stored them in another form.
  if (!fragments?.urls) throw new UrlExpired(false);
  const unpacked = await collectInSlices(unpackDashSegments(fragments));
  const timeline = dashTimeline(unpacked, { isLive: track.isLive === true, baseUrl: fragmentBaseUrl, previous });
  return { ...timeline, segments: await collectInSlices(timeline.segments) };
};

/** The header of most files, with the first bytes of their media. Parsing as much takes no process of its own. */
const WEBM_HEAD_BYTES = 48 * 1024;

/** The clusters of a Matroska file by its cues: one request, or two where the cues are not in front. @throws UnsupportedMp4 */
const loadWebm: LoadTimeline<FileTimeline> = async (options, track, signal) => {
  const { client, parse, probes, rangeRequirement } = options;
  const target = fixedTarget({ url: track.url, track, generation: 0 }, { chunks: rangeRequirement.chunks });
  const read = async (first: number, last: number) =>
    (await fetchBuffer({ ...options, target }, last - first + 1, signal, { first, last })).bytes;
  const head = await read(0, WEBM_HEAD_BYTES - 1);
  const { size: fileBytes, etag, lastModified } = target.entity;
  if (fileBytes === undefined) throw new UnsupportedMp4('A file of unknown size');
  const offset = probeOffset(track, fileBytes);
  if (offset !== undefined && probes?.isProbed(track.url)) await probes.check({ ...options, target, offset, signal });

  const validator = etag ?? lastModified ?? (await options.ownValidators.find({ ...options, signal }, target, false));

  const readParts = (parts: WebmParts) => parse(READ_WEBM, parts, { client, signal });
  let found = await readParts({ head, fileBytes });
  if ('first' in found) {
    const { first, last } = found;
    found = await readParts({ head, fileBytes, cues: { first, bytes: await read(first, last) } });
  }
  if ('first' in found) throw new UnsupportedMp4('No cues');
  const { entries, timescale, endTime } = unpackTable(found.table);
  let end = found.mediaStart;
  const segments = entries.map(({ segmentBytes, time }, sequence) => {
    const first = end;
    end += segmentBytes;
    const seconds = ((entries[sequence + 1]?.time ?? endTime) - time) / timescale;
    return { sequence, seconds, content: { url: track.url, range: { first, last: end - 1 } } };
  });
  return {
    segments,
    isComplete: true,
    reloadSeconds: 0,
    table: found.table,
    file: { entity: target.entity, seen: target.seen, validator },
  };
};

/** Segments that are compared in one turn: 5 ms. */
const COMPARED_SEGMENTS = 5000;

async function isSame(before: Timeline, after: Timeline): Promise<boolean> {
  if (!before.isComplete) return true;
  if (before.segments.length !== after.segments.length) return false;
  for (let from = 0; from === 0 || from < before.segments.length; from += COMPARED_SEGMENTS) {
    const part = ({ segments, ...list }: Timeline) => ({
      ...list,
      segments: segments.slice(from, from + COMPARED_SEGMENTS),
    });
    if (!isSameMedia(part(before), part(after))) return false;
    await ownTurn();
  }
  return true;
}

/** HLS: its playlist is fetched. */
export const HLS: ListKind = { load: loadHls };
/** DASH: its track lists the fragments. */
export const DASH: ListKind = { load: loadDash, isRenewed: true };
/** A Matroska file, by its cues. */
export const WEBM: ListKind<FileTimeline> = { load: loadWebm, isFile: true };

/** A list whose segments can be read. */
export interface OpenList {
  readonly locator: TrackLocator<LoadedTimeline>;
  /** As it was when it was opened. */
  readonly timeline: LoadedTimeline;
  readonly rangeRequirement: RangeRequirement;
}

type LoadedTimeline = Timeline & Partial<Pick<FileTimeline, 'table' | 'file'>>;

interface OpenListOptions {
  /** What the track lists has moved on since. @default false */
  readonly isLatest?: boolean | undefined;
  /** Called when a reload returns a different list. */
  readonly onChange?: (error: UpstreamError) => Promise<void>;
}

/** Reads the list of a track. It stays the same list, wherever it is read from later. */
export async function openList(request: ListRequest, { isLatest, onChange }: OpenListOptions = {}): Promise<OpenList> {
  const { limits, signal, track } = request;
  const { load, isRenewed = false }: ListKind<LoadedTimeline> = request.kind;
  const rangeRequirement = createRangeRequirement(limits, track);
  let latest: LoadedTimeline | undefined;
  const loadSame = async (at: SourceTrack, until: AbortSignal): Promise<LoadedTimeline> => {
    const loaded = await load({ ...request, rangeRequirement, previous: latest }, at, until);
    // A list of 100,000 segments takes some 30 ms to read, and what follows as long again.
    await ownTurn();
    if (latest && !(await isSame(latest, loaded))) {
      const changed = new UpstreamError('Segment list has changed');
      await onChange?.(changed);
      throw changed;
    }
    latest = loaded;
    return loaded;
  };
  const locator = new TrackLocator({ ...request, load: loadSame, isRenewed });
  const { value } = await (isRenewed && isLatest ? locator.reload(signal) : locator.current(signal));
  return { locator, timeline: value, rangeRequirement };
}
