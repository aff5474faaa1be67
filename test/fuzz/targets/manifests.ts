import { dashTimeline, scanDashManifest } from '@reelay/seekable-media/dash';
import { PlaylistError, readHlsPlaylist, scanHlsPlaylist, unpackHlsPlaylist } from '@reelay/seekable-media/hls';
import { hasDiscontinuity, longestGapSeconds } from '@reelay/seekable-media/timeline';
import * as seeds from '../../../packages/seekable-media/test/seeds.ts';
import { check, type FuzzTargets, header, LINEAR, MB } from './target.ts';

const URL_BASE = 'https://cdn.example/a/index.m3u8';
const MAX_SEGMENTS = 100_000;
const MAX_FRAGMENTS = 150_000;

/** Manifests of HLS and DASH. */
export const manifests: FuzzTargets = {
  'hls-playlist': {
    run(input) {
      const parsed = unpackHlsPlaylist(readHlsPlaylist(input.toString(), MAX_SEGMENTS), URL_BASE);
      if (parsed.kind === 'master') return check(URL.canParse(parsed.bestUrl), 'Invalid URL of a variant');
      const segments = [...parsed.segments];
      hasDiscontinuity(segments);
      check(Number.isFinite(longestGapSeconds(segments)), 'Endless gap');
      for (const { content, isGap, seconds } of segments) {
        check(isGap || URL.canParse(content.url), 'Invalid URL of a segment');
        check(seconds >= 0 && seconds < 1e7, 'Implausible duration');
      }
    },
    errors: [PlaylistError],
    seeds: [seeds.HLS, seeds.HLS_MASTER],
    maxBytes: 8 * MB,
    // Variables may expand a playlist to 8 MiB.
    maxSteps: { fixed: 30_000_000, perByte: 200 },
  },
  'hls-scan': {
    run: (input) => void scanHlsPlaylist(input.toString()),
    errors: [PlaylistError],
    seeds: [seeds.HLS, seeds.HLS_MASTER],
    maxBytes: 8 * MB,
    maxSteps: { fixed: 30_000_000, perByte: 200 },
  },
  'dash-manifest': {
    run(input) {
      const { durationSeconds = 1 } = scanDashManifest(input.toString()) ?? {};
      check(durationSeconds > 0 && durationSeconds < 1e7, 'Implausible duration');
    },
    seeds: [seeds.DASH],
    maxBytes: MB / 4,
    maxInlineBytes: MB / 4,
    maxSteps: LINEAR,
  },
  'dash-timeline': {
    run(input) {
      const fragments = header(input)
        .split('\n', MAX_FRAGMENTS)
        .map((url, index) => ({ url, seconds: index % 3 }));
      const timeline = dashTimeline(fragments, { isLive: true, baseUrl: URL_BASE });
      const previous = { ...timeline, segments: [...timeline.segments] };
      check(
        [...dashTimeline(fragments.slice(1), { isLive: true, baseUrl: URL_BASE, previous }).segments].length <
          MAX_FRAGMENTS,
        'More segments than fragments',
      );
    },
    maxBytes: 8 * MB,
    maxInlineBytes: 8 * MB,
    maxSteps: LINEAR,
  },
};
