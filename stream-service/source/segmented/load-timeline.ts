import { UpstreamError, UrlExpired } from '../../../core/errors/index.ts';
import { dashTimeline } from '../../../core/media/dash/index.ts';
import { parseHlsPlaylist } from '../../../core/media/hls/index.ts';
import type { Timeline } from '../../../core/media/timeline/index.ts';
import type { Track } from '../../../core/state/index.ts';
import {
  createPlaylistCheck,
  fetchBuffer,
  type RangeRequirement,
  type UpstreamTarget,
  unknownEntity,
} from '../request/index.ts';
import type { OpenRequest } from '../source-kind.ts';

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
  const { maxPlaylistBytes, maxSegments } = options.limits;
  let url = track.url;
  for (let count = 0; count < MAX_PLAYLISTS; count++) {
    const location = { url, track, generation: 0 };
    const target: UpstreamTarget = {
      locate: async () => location,
      async renew(_location, isGone) {
        throw new UrlExpired(isGone);
      },
      entity: unknownEntity,
      rangeRequirement: options.rangeRequirement,
    };
    const createCheck = createPlaylistCheck;
    const playlist = await fetchBuffer({ ...options, target, createCheck }, maxPlaylistBytes, signal);
    try {
      const parsed = parseHlsPlaylist(playlist.bytes.toString('utf8'), { url: playlist.url, maxSegments });
      if (parsed.kind === 'media') return parsed.timeline;
      url = parsed.bestUrl;
    } catch (error) {
      throw new UpstreamError('Invalid HLS playlist', { cause: error });
    }
  }
  throw new UpstreamError('Master playlist names another master playlist');
};

/** Takes the fragments that resolving listed. None: the list was too long to store, or the manifest no longer has it. */
export const loadDash: LoadTimeline = async ({ resource, previous }, { fragments, fragmentBaseUrl }) => {
  if (!fragments || fragments.length === 0) throw new UrlExpired(false);
  return dashTimeline(fragments, { isLive: resource.isLive, baseUrl: fragmentBaseUrl, previous });
};
