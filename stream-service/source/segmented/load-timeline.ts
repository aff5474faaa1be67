import { collectInSlices } from '@reelay/concurrency';
import { dashTimeline, unpackFragments } from '@reelay/seekable-media/dash';
import { PlaylistError, unpackHlsPlaylist } from '@reelay/seekable-media/hls';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { unpackTable } from '@reelay/seekable-media/segment-file';
import type { Timeline } from '@reelay/seekable-media/timeline';
import type { WebmParts } from '@reelay/seekable-media/webm';
import { ParsingLimitExceeded, UpstreamError, UrlExpired } from '../../../core/errors/index.ts';
import { parse, READ_HLS_PLAYLIST, READ_WEBM } from '../../../core/parsing/index.ts';
import type { Track } from '../../../core/state/index.ts';
import { probeOffset } from '../availability-probe.ts';
import { createPlaylistCheck } from '../completeness.ts';
import { fetchBuffer } from '../memory.ts';
import type { OpenRequest } from '../source.ts';
import { fixedTarget, type RangeRequirement } from '../upstream-request.ts';

export interface LoadOptions extends OpenRequest {
  readonly rangeRequirement: RangeRequirement;
  /** The timeline before this load. */
  readonly previous: Timeline | undefined;
}

/** Reads the list of segments of a track. @throws UrlExpired when the track must be resolved again */
export type LoadTimeline<List extends Timeline = Timeline> = (
  options: LoadOptions,
  track: Track,
  signal: AbortSignal,
) => Promise<List>;

/** The parts of a file. */
export interface FileTimeline extends Timeline {
  /** Packed. */
  readonly table: Buffer;
  /** Bytes of the file, and its validator. */
  readonly entity: readonly [bytes: number, validator: string | undefined];
}

/** A master playlist names media playlists, never another master playlist (RFC 8216 §4.3.4). */
const MAX_PLAYLISTS = 2;

/** Fetches and parses an HLS playlist; for a master playlist, its best variant. */
export const loadHls: LoadTimeline = async (options, track, signal) => {
  const { client, limits, rangeRequirement } = options;
  const { maxPlaylistBytes, maxSegments } = limits;
  let url = track.url;
  for (let count = 0; count < MAX_PLAYLISTS; count++) {
    const target = fixedTarget({ url, track, generation: 0 }, { rangeRequirement });
    const playlistOptions = { ...options, target, createCheck: createPlaylistCheck };
    const { bytes, url: baseUrl } = await fetchBuffer(playlistOptions, maxPlaylistBytes, signal);
    const playlist = await parse(READ_HLS_PLAYLIST, { bytes, maxSegments }, { client, signal })
      .then((packed) => unpackHlsPlaylist(packed, baseUrl))
      .catch((error) => {
        const isInvalid = error instanceof PlaylistError || error instanceof ParsingLimitExceeded;
        throw isInvalid ? new UpstreamError('Invalid HLS playlist', { cause: error }) : error;
      });
    if (playlist.kind === 'media') return { ...playlist, segments: await collectInSlices(playlist.segments) };
    url = playlist.bestUrl;
  }
  throw new UpstreamError('Master playlist names another master playlist');
};

/** Takes the fragments that resolving listed. None: the list was too long to store, or the manifest no longer has it. */
export const loadDash: LoadTimeline = async ({ resource, previous }, { fragments, fragmentBaseUrl }) => {
  // An earlier version stored them in another form.
  if (!fragments?.urls) throw new UrlExpired(false);
  const unpacked = await collectInSlices(unpackFragments(fragments));
  const timeline = dashTimeline(unpacked, { isLive: resource.isLive, baseUrl: fragmentBaseUrl, previous });
  return { ...timeline, segments: await collectInSlices(timeline.segments) };
};

/** The header of most files, with the first bytes of their media. Parsing as much takes no process of its own. */
const WEBM_HEAD_BYTES = 48 * 1024;

/** The clusters of a Matroska file by its cues: one request, or two where the cues are not in front. @throws UnsupportedMp4 */
export const loadWebm: LoadTimeline<FileTimeline> = async (options, track, signal) => {
  const { client, probes, rangeRequirement, resource } = options;
  const target = fixedTarget({ url: track.url, track, generation: 0 }, { chunks: rangeRequirement.chunks });
  const read = async (first: number, last: number) =>
    (await fetchBuffer({ ...options, target }, last - first + 1, signal, { first, last })).bytes;
  const head = await read(0, WEBM_HEAD_BYTES - 1);
  const { size: fileBytes, etag, lastModified } = target.entity;
  if (fileBytes === undefined) throw new UnsupportedMp4('A file of unknown size');
  const offset = probeOffset(track, resource, fileBytes);
  if (offset !== undefined && probes?.isProbed(track.url)) await probes.check({ ...options, target, offset, signal });

  const readParts = (parts: WebmParts) => parse(READ_WEBM, parts, { client, signal });
  let found = await readParts({ head, fileBytes });
  if ('first' in found) {
    const { first, last } = found;
    found = await readParts({ head, fileBytes, cues: { first, bytes: await read(first, last) } });
  }
  if ('first' in found) throw new UnsupportedMp4('No cues');
  const { places, timescale, endTime } = unpackTable(found.table);
  let end = found.mediaStart;
  const segments = places.map(({ segmentBytes, time }, sequence) => {
    const first = end;
    end += segmentBytes;
    const seconds = ((places[sequence + 1]?.time ?? endTime) - time) / timescale;
    return { sequence, seconds, content: { url: track.url, range: { first, last: end - 1 } } };
  });
  return {
    segments,
    isComplete: true,
    reloadSeconds: 0,
    table: found.table,
    entity: [fileBytes, etag ?? lastModified],
  };
};
