import { unpackDashSegments } from '@reelay/seekable-media/dash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tracksOf } from './tracks-of.ts';

const url = fc.oneof(fc.webUrl(), fc.string(), fc.constantFrom('https://cdn.example/a', 'file:///x', 'https://['));
const anything = fc.anything({ maxDepth: 2 });
const fragment = fc.oneof(
  anything,
  fc.record({ url: fc.option(url, { nil: undefined }), path: fc.oneof(fc.webPath(), anything), duration: anything }),
);
const format = fc.record({
  format_id: fc.oneof(fc.string(), anything),
  url,
  protocol: fc.constantFrom('https', 'm3u8_native', 'http_dash_segments', 'rtmp'),
  fragment_base_url: fc.oneof(url, anything),
  fragments: fc.oneof(fc.array(fragment, { maxLength: 20 }), anything),
  duration: anything,
  http_headers: anything,
  cookies: fc.oneof(fc.string(), anything),
  vcodec: anything,
  acodec: anything,
  ext: fc.oneof(fc.constantFrom('mp4', 'm4a'), anything),
});

describe('readTracks on arbitrary JSON of yt-dlp', () => {
  it('never throws, and returns tracks whose URLs are http, bounded and as many as their formats', () =>
    fc.assert(
      fc.property(fc.record({ formats: fc.array(format, { maxLength: 10 }), duration: anything }), (info) => {
        const tracks = tracksOf(info, 1_700_000_000);
        expect(tracks.length).toBeLessThanOrEqual(info.formats.length);
        for (const { track } of tracks) {
          expect(track.url).toMatch(/^https?:/);
          expect(track.url.length).toBeLessThanOrEqual(8192);
          expect(track.durationSeconds ?? 1).toBeGreaterThan(0);
          for (const { url, seconds } of track.fragments ? unpackDashSegments(track.fragments) : []) {
            expect(URL.parse(url, track.fragmentBaseUrl)?.protocol).toMatch(/^https?:$/);
            expect(seconds).toBeGreaterThanOrEqual(0);
          }
        }
      }),
      { numRuns: 300 },
    ));
});
