import { problems } from '../../../core/api/index.ts';
import { UrlExpired } from '../../../core/errors/index.ts';
import { dashTimeline } from '../../../core/media/dash/index.ts';
import { parseHlsPlaylist } from '../../../core/media/hls/index.ts';
import type { Timeline } from '../../../core/media/timeline/index.ts';
import type { Track } from '../../../core/state/index.ts';
import { createPlaylistCheck, fetchBuffer, type RangeNeed, unknownEntity } from '../request/index.ts';
import type { OpenRequest } from '../source-kind.ts';

export interface LoadOptions extends OpenRequest {
  readonly ranges: RangeNeed;
  /** The timeline as loaded before. */
  readonly known: Timeline | undefined;
}

/** Reads the list of segments of a track. @throws UrlExpired when the track must be resolved again */
export type LoadTimeline = (options: LoadOptions, track: Track, signal: AbortSignal) => Promise<Timeline>;

/** A master playlist names media playlists, never another master playlist (RFC 8216 §4.3.4). */
const MAX_PLAYLISTS = 2;

/** Fetches and parses an HLS playlist; of a master playlist, its best variant. */
export const loadHls: LoadTimeline = async (options, track, signal) => {
  const { limits, ranges } = options;
  let url = track.url;
  for (let count = 0; count < MAX_PLAYLISTS; count++) {
    const location = { url, track, generation: 0 };
    const target = {
      locate: async () => location,
      renew: async (_: unknown, isGone: boolean) => {
        throw new UrlExpired(isGone);
      },
      entity: unknownEntity,
      ranges,
    };
    const found = await fetchBuffer({ ...options, target, audit: createPlaylistCheck }, limits.playlistBytes, signal);
    try {
      const playlist = parseHlsPlaylist(found.bytes.toString('utf8'), { url: found.url, maxSegments: limits.segments });
      if (playlist.kind === 'media') return playlist.timeline;
      url = playlist.bestUrl;
    } catch (error) {
      throw problems.fetchFailed(error);
    }
  }
  throw problems.fetchFailed(new Error('The master playlist names no media playlist'));
};

/** Takes the fragments that resolving listed. Without any, the list was too long to store, or is gone from the manifest. */
export const loadDash: LoadTimeline = async ({ resource, known }, { fragments }) => {
  if (!fragments || fragments.length === 0) throw new UrlExpired(false);
  return dashTimeline(fragments, resource.isLive, known);
};
