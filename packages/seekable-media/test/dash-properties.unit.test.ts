import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dashTimeline, packDashSegments, scanDashManifest, unpackDashSegments } from '../src/dash.ts';

const REAL = '<?xml version="1.0"?><MPD type="static" mediaPresentationDuration="PT1H2M3.5S"><Period/></MPD>';
const mutated = fc
  .tuple(fc.nat(REAL.length), fc.nat(20), fc.string({ unit: 'binary', maxLength: 20 }))
  .map(([at, removed, inserted]) => REAL.slice(0, at) + inserted + REAL.slice(at + removed));

describe('scanDashManifest on arbitrary text', () => {
  it('never throws, and returns only plausible durations', () =>
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string({ unit: 'binary' })), (text) => {
        const { durationSeconds = 1 } = scanDashManifest(text) ?? {};
        expect(durationSeconds).toBeGreaterThan(0);
        expect(durationSeconds).toBeLessThan(1e7);
      }),
      { numRuns: 500 },
    ));
});

describe('dashTimeline on arbitrary fragments', () => {
  const fragments = fc.array(
    fc.record({ url: fc.oneof(fc.webPath(), fc.webUrl(), fc.string()), seconds: fc.constantFrom(0, 0, 1.5, 2) }),
    { maxLength: 40 },
  );

  it('numbers segments without gaps, across reloads too, and lists no more than there are fragments', () =>
    fc.assert(
      fc.property(fragments, fragments, fc.boolean(), (before, after, isLive) => {
        const baseUrl = 'https://cdn.example/a/';
        const earlier = dashTimeline(before, { isLive, baseUrl });
        const previous = { ...earlier, segments: [...earlier.segments] };
        const segments = [...dashTimeline(after, { isLive, baseUrl, previous }).segments];
        expect(segments.length).toBeLessThanOrEqual(after.length);
        for (const [index, { sequence, content }] of segments.entries()) {
          expect(sequence).toBe((segments[0]?.sequence ?? 0) + index);
          expect(typeof content.url).toBe('string');
        }
      }),
      { numRuns: 300 },
    ));
});

describe('packFragments', () => {
  const fragments = fc.array(
    fc.record({
      url: fc.webPath(),
      seconds: fc.oneof(
        fc.constantFrom(0, 2, 4.004),
        fc.nat(1e10).map((n) => n / 1e6),
      ),
    }),
    { minLength: 1, maxLength: 40 },
  );

  it('keeps URLs, and durations to the microsecond', () =>
    fc.assert(
      fc.property(fragments, (list) => {
        expect([...unpackDashSegments(packDashSegments(list))]).toEqual(list);
      }),
    ));
});
