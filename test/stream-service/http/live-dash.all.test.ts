import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { keyOf } from '../../../core/state/keys.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { madeBy } from '../../origin/media.ts';
import { inspect } from '../../support/media-tools.ts';
import { openResponse, sendRequest } from '../../support/request.ts';
import { expectSized, until } from '../fixture.ts';
import { segmentsIn, timelineOf, useResolvedDash } from './dash-fixture.ts';
import { segmentsOf, statusOf } from './windows.ts';

/** Through the real yt-dlp: live DASH whose segments FFmpeg has made, ten of a minute, so that none ends during a test. */
const SECONDS = 60;
const folder = await madeBy([
  [
    ...['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=2:d=600', '-f', 'lavfi', '-i', 'sine=400:r=48000:d=600'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '120', '-c:a', 'aac', '-b:a', '32k'],
    ...['-f', 'dash', '-seg_duration', String(SECONDS), '-use_template', '1', '-use_timeline', '1'],
    ...['-adaptation_sets', 'id=0,streams=v id=1,streams=a', 'a.mpd'],
  ],
]);
const file = (path: string) => readFileSync(join(folder, path));

const made = String(file('a.mpd'));
/** The `SegmentTimeline` of each stream. */
const timelines = made
  .split('<SegmentTimeline>')
  .slice(1)
  .map((text) => segmentsIn(text.split('</')[0] ?? ''));
const timescales = [...made.matchAll(/timescale="(\d+)"/g)].map(([, each]) => Number(each));

let asked: string[] = [];
const site = await useResolvedDash((path, response) => {
  asked.push(path);
  const [, stream = '', name = ''] = /^(\d)-(.+)\.m4s$/.exec(path) ?? [];
  const byTime = timelines[Number(stream)]?.findIndex(({ start }) => name === `t${start}`) ?? -1;
  const number = byTime >= 0 ? byTime + 1 : Number(name);
  const bytes = file(
    name === 'init' ? `init-stream${stream}.m4s` : `chunk-stream${stream}-${String(number).padStart(5, '0')}.m4s`,
  );
  createFaultHandler({ bytes })(response.req, response);
});
afterEach(() => {
  asked = [];
});

const SETS = [
  'mimeType="video/mp4" codecs="avc1.42c00a" width="64" height="48"',
  'mimeType="audio/mp4" codecs="mp4a.40.2" audioSamplingRate="48000"',
];
/** @param template of a stream */
const mpd = (template: (stream: number) => string, root = '') => `<?xml version="1.0"?>
  <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" ${root}><Period start="PT0S">
  ${SETS.map((set, stream) => `<AdaptationSet ${set}>${template(stream)}<Representation id="${stream}" bandwidth="9000"/></AdaptationSet>`).join('')}
  </Period></MPD>`;

/** Six minutes into it, of which five are complete and published. */
const byNumber = (begun: number) => () =>
  mpd(
    () =>
      `<SegmentTemplate initialization="$RepresentationID$-init.m4s" media="$RepresentationID$-$Number$.m4s" duration="${SECONDS}"/>`,
    `availabilityStartTime="${new Date(begun).toISOString()}" timeShiftBufferDepth="PT300S"`,
  );
const TIMES = '$RepresentationID$-t$Time$';
/** The segments from one to another. */
const byTimeline =
  (state: { from: number; to: number }, name = '$RepresentationID$-$Number$') =>
  () =>
    mpd((stream) => {
      const listed = timelineOf(timelines[stream]?.slice(state.from, state.to) ?? []);
      return `<SegmentTemplate initialization="$RepresentationID$-init.m4s" media="${name}.m4s" startNumber="${state.from + 1}" timescale="${timescales[stream]}">${listed}</SegmentTemplate>`;
    });

let last: Resource | undefined;
/** The address of the best rendition. */
async function start(resource: Resource): Promise<string> {
  last = resource;
  const { url } = await site.start(resource, { minReloadMs: 5 });
  return `${url}/api/Stream/Media/${keyOf(resource.id, resource.renditions[0]?.id ?? '')}`;
}
const serve = async (list: () => string) => start(await site.resolve(list));

/** A window as a file. */
async function download(url: string) {
  const { durationSeconds, complaints, codecs } = await inspect(await expectSized(url), '.mp4');
  return { seconds: Math.round(durationSeconds), complaints, codecs: codecs.toSorted() };
}

describe('a live stream of DASH', () => {
  it('without a timeline has windows of the segments that are complete', async () => {
    const base = await serve(byNumber(Date.now() - 6.05 * SECONDS * 1000));
    expect(await segmentsOf(`${base}?start=-999`)).toBe('3-5');
    expect(await segmentsOf(`${base}?start=-100`)).toBe('4-5');
    expect(await segmentsOf(`${base}?start=-100&end=-70`)).toBe('4-4');
    expect(await download(`${base}?segments=4-5`)).toEqual({ seconds: 120, complaints: '', codecs: ['aac', 'h264'] });
  });

  it('with a timeline has windows by the numbers of its segments, the same in every process', async () => {
    const state = { from: 2, to: 6 };
    const base = await serve(byTimeline(state));
    expect(await segmentsOf(`${base}?start=-999`)).toBe('3-6');
    expect(await download(`${base}?segments=3-5`)).toEqual({ seconds: 180, complaints: '', codecs: ['aac', 'h264'] });
    Object.assign(state, { from: 4, to: 8 });
    expect(await segmentsOf(`${base}?start=-999`)).toBe('5-8');
    expect((await sendRequest(`${base}?segments=3-5`, { method: 'HEAD' })).status).toBe(200);
    // Another process, which has what was resolved at first.
    const other = await start(last as Resource);
    expect(await download(`${other}?segments=7-8`)).toEqual({ seconds: 120, complaints: '', codecs: ['aac', 'h264'] });
    expect(await statusOf(`${other}?segments=0-1`)).toBe('404 /problems/gone');
  });

  it('is read from the newest segments, as its manifest now has them', async () => {
    const state = { from: 0, to: 4 };
    const base = await serve(byTimeline(state, TIMES));
    Object.assign(state, { from: 3, to: 9 });
    asked = [];
    const answer = await openResponse(base);
    expect(answer.status).toBe(200);
    const first = `0-t${timelines[0]?.[6]?.start}.m4s`;
    await until(() => asked.includes(`0-t${timelines[0]?.[8]?.start}.m4s`));
    expect(asked.find((path) => path.startsWith('0-t'))).toBe(first);
    answer.body.destroy();
  });

  it('has no windows by times of day, and none when its segments are not numbered', async () => {
    const base = await serve(byTimeline({ from: 0, to: 4 }));
    expect(await statusOf(`${base}?start=2026-11-23T20:00:00Z`)).toBe('400 /problems/bad-parameter');
    const unnamed = await serve(byTimeline({ from: 0, to: 4 }, TIMES));
    for (const query of ['start=-5', 'segments=0-1'])
      expect(await statusOf(`${unnamed}?${query}`)).toBe('400 /problems/bad-parameter');
  });
});
