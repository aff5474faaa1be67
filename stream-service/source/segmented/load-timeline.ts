import { collectInSlices } from '../../../core/concurrency/index.ts';
import { ParsingLimitExceeded, UpstreamError, UrlExpired } from '../../../core/errors/index.ts';
import { dashTimeline, unpackFragments } from '../../../core/media/dash/index.ts';
import { PlaylistError, unpackHlsPlaylist } from '../../../core/media/hls/index.ts';
import type { Timeline } from '../../../core/media/timeline/index.ts';
import { parse, READ_HLS_PLAYLIST } from '../../../core/parsing/index.ts';
import type { Track } from '../../../core/state/index.ts';
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
export type LoadTimeline = (options: LoadOptions, track: Track, signal: AbortSignal) => Promise<Timeline>;

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
