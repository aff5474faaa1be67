import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../core/errors/index.ts';
import { silentLog } from '../../../../core/log/index.ts';
import { archiveKey } from '../../../../core/state/keys.ts';
import type { Resource } from '../../../../core/state/resource.ts';
import { MAX_BLOCK_BYTES } from '../../../../packages/seekable-media/src/zip.ts';
import { createSkipSegments, type SkipSegmentsOptions } from '../../../../stream-service/sponsorblock.ts';
import { probe } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../../support/segments-service.ts';
import { resourceOf, startService, tableOf, trackOf } from '../../fixture.ts';
import { AUDIO_RATE, decode, heardSamples, meanDifference, once } from './clip-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';

const DECODED_SECONDS = 32;
const media = await usePairMedia();
const decodeWhole = once((files: readonly string[]) => decode(files.map(media.pathOf), DECODED_SECONDS));
const BOTH = ['ladder/both-360.mp4'];
const SOUND = ['ladder/aac-128.m4a'];
const origin = { url: 'https://site.example/watch', extractor: 'Youtube', entryId: VIDEO_ID };

/** A cut is moved by so much at most, and ends with a frame of 25 a second. */
const MOVED_SECONDS = 0.012;
const FRAME_SECONDS = 0.04;

/** The titles and starts of the chapters of an output, and the end of the last one. */
async function chaptersOf(url: string): Promise<(string | number)[]> {
  const args = ['-v', 'error', '-of', 'json', '-show_chapters', url];
  const { chapters } = JSON.parse((await promisify(execFile)('ffprobe', args)).stdout) as {
    chapters: { start_time: string; end_time: string; tags: { title: string } }[];
  };
  return [...chapters.flatMap(({ tags, start_time: at }) => [tags.title, +at]), Number(chapters.at(-1)?.end_time)];
}

/** The same as it is expected, such as `One 0, Two 2.5, 8`. */
const within = (expected: string) =>
  expected
    .split(/,? /)
    .map((part) => (/^\d/.test(part) ? expect.toSatisfy((at) => isNear(at, +part), `near ${part}`) : part));
const isNear = (at: number, wanted: number) => Math.abs(at - wanted) < MOVED_SECONDS + FRAME_SECONDS;

type Span = readonly [start: number, end: number];
type Answer = Parameters<typeof startSegmentsService>[0];

/**
 * Starts the service with files, and with a service that answers requests for segments.
 * @param isAdmitted whether the guard admits that one
 */
async function start(files: readonly string[], answer: Answer, item?: Partial<Resource>, isAdmitted = true) {
  const { options, paths } = await startSegmentsService(answer, isAdmitted);
  return { ...(await media.start(files, options, { origin, ...item })), paths };
}

const startSkipping = (files: readonly string[], skipped: readonly Span[], item?: Partial<Resource>) =>
  start(files, answerSegments(...skipped.map(([from, to]) => segmentOf(from, to))), item);

/** The time of the whole that is presented at a time of the output. */
const sourceTime = (skipped: readonly Span[], seconds: number): number =>
  skipped.reduce((time, [from, to]) => (time >= from ? time + to - from : time), seconds);

/** A packet of AAC at 48 kHz is 21.3 ms: a cut is moved by half of it at most. */
const PACKET_SECONDS = 1024 / 44_100;

const CASES: readonly (readonly [readonly string[], skipped: string, number])[] = [
  [['indexed.mp4', 'indexed.m4a'], '5.3-9.61 12.05-12.4 20-25.5', 31],
  [['long-video.mp4', 'long-audio.m4a'], '0-7.7 21.05-30', 32],
  [['bframes.mp4', 'ladder/aac-128.m4a'], '1.33-3.21 5-5.9', 8],
  [['vp9.mp4', 'opus.mp4'], '1.5-4', 8],
  [BOTH, '2.5-4.25 7-99', 7],
];

describe('Media with skip', () => {
  it.each(CASES)('shows and sounds as %j without %s', async (files, spans, endSeconds) => {
    const skipped = spans.split(' ').map((span) => span.split('-').map(Number) as unknown as Span);
    const { url, paths } = await startSkipping(files, skipped);
    const query = endSeconds > 8 ? `skip=sponsor&end=${endSeconds}` : 'skip=sponsor';
    const { headers } = await expectSeekable(`${url}?${query}`, { cache: 'private' });
    expect(headers.etag).not.toBe((await sendRequest(url)).headers.etag);
    // All categories at once, of a prefix that many videos share, and once for all requests.
    expect(paths).toEqual([
      expect.stringMatching(/^\/base\/api\/skipSegments\/[0-9a-f]{4}\?categories=.*&actionTypes=%5B%22skip%22%5D$/),
    ]);
    const [part, whole] = [await decode([`${url}?${query}`]), await decodeWhole(files)];
    expect(part.complaints).toBe('');

    const cuts = skipped.map(([from], index) => from - lengthOf(skipped.slice(0, index)));
    const seconds = endSeconds - lengthOf(skipped.filter(([, to]) => to < 99));
    const shownAt = ({ frames }: typeof whole, at: number) => frames.findLast((frame) => frame.seconds <= at)?.digest;
    // Each cut moves by half a packet at most.
    const error = cuts.length * PACKET_SECONDS;
    let compared = 0;
    for (let at = 0.051; at < seconds - 0.1; at += 0.1) {
      if (cuts.some((cut) => Math.abs(cut - at) < 0.06)) continue;
      const time = sourceTime(skipped, at);
      const expected = [-error, 0, error].map((moved) => shownAt(whole, time + moved));
      expect(expected, `at ${at}`).toContain(shownAt(part, at));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(seconds * 5);
    // Frames that are decoded for those behind a cut are shown for less than some milliseconds together.
    const brief = part.frames.filter(({ seconds: at }, index) => (part.frames[index + 1]?.seconds ?? 1e9) - at < 0.002);
    expect(brief.length * 2e-5).toBeLessThan(0.004);

    expect(Math.abs(part.samples.length / AUDIO_RATE - seconds)).toBeLessThan(error + 0.05);
    for (const cut of cuts.filter((at) => at + 0.6 < seconds)) {
      // The cut is at a packet: within the error, one shift has the same samples.
      const from = Math.round((cut + 0.1) * AUDIO_RATE);
      const heard = part.samples.subarray(from, from + 9600);
      const wanted = Math.round(sourceTime(skipped, cut + 0.1) * AUDIO_RATE);
      const reach = Math.round(error * AUDIO_RATE) + 400;
      let best = Number.POSITIVE_INFINITY;
      for (let shift = -reach; shift <= reach; shift += 1)
        best = Math.min(
          best,
          meanDifference(whole.samples.subarray(wanted + shift, wanted + shift + heard.length), heard, 7),
        );
      expect(best).toBeLessThan(60);
    }
  });

  it('leaves out whole frames of MP3, and packets of M4A', async () => {
    const reports = [segmentOf(2.4, 4.8), segmentOf(4.7, 5.016), segmentOf(7.3, 7.5)];
    const { url } = await start(SOUND, answerSegments(...reports), { durationSeconds: 8 });
    const [whole, part] = await Promise.all(
      ['?format=mp3', '?format=mp3&skip=sponsor'].map(async (query) => (await sendRequest(url + query)).body),
    );
    if (!whole || !part) throw new Error('unreachable');
    const tagBytes = whole.length % 576;
    const frames = whole.subarray(tagBytes);
    expect(part.subarray(0, tagBytes)).toEqual(whole.subarray(0, tagBytes));
    const kept = Buffer.concat([frames.subarray(576, 102 * 576), frames.subarray(211 * 576, 307 * 576)]);
    expect(part.subarray(tagBytes + 576).equals(kept)).toBe(true);
    const cut = tagBytes + 102 * 576;
    const edges = [
      [cut - 600, cut + 600],
      [cut, cut],
      [cut - 1, part.length - 1],
    ] as const;
    await expectSeekable(`${url}?format=mp3&skip=sponsor`, { cache: 'private', edges });

    const left = (await heardSamples(`${url}?format=m4a&skip=sponsor`)).length / AUDIO_RATE;
    expect(Math.abs(left - (2.4 + 7.3 - 5.016))).toBeLessThan(PACKET_SECONDS + 0.001);
  });

  describe.each([
    ['MP4', BOTH, ''],
    ['a pair', ['bframes.mp4', 'ladder/aac-128.m4a'], ''],
    ['MP3', SOUND, '&format=mp3'],
    ['M4A', SOUND, '&format=m4a'],
  ] as const)('%s', (_, files, format) => {
    const chapters = Object.entries({ One: 0, Two: 3.017, Three: 5.75 });
    const details = { chapters: chapters.map(([title, startSeconds]) => ({ title, startSeconds })) };
    const reports = answerSegments(segmentOf(1.13, 1.61), segmentOf(4.07, 6.4), segmentOf(7.03, 7.53, 'intro'));
    const startReported = () => start(files, reports, { details, durationSeconds: 8 });

    it.each([
      ['skip=sponsor&tags=true', 'One 0, Two 2.537, Three 3.59, 5.19'],
      ['skip=sponsor,intro&tags=true', 'One 0, Two 2.537, Three 3.59, 4.22'],
      ['skip=sponsor&tags=true&start=2&end=7', 'One 0, Two 1.017, Three 2.07, 2.67'],
      // Pieces below a second are left out. The intro ends with the media, whose duration is rounded.
      ['mark=sponsor', 'One 0, Sponsor 1.13, One 1.61, Two 3.017, Sponsor 4.07, Three 6.4, 8'],
      ['mark=sponsor,intro', 'One 0, Sponsor 1.13, One 1.61, Two 3.017, Sponsor 4.07, Intro 7.03, 8'],
      ['mark=intro&tags=true', 'One 0, Two 3.017, Three 5.75, Intro 7.03, 8'],
      ['mark=intro&skip=sponsor', 'One 0, Two 2.537, Three 3.59, Intro 4.22, 5.19'],
    ])('has its chapters at their times by %s', async (query, expected) => {
      const { url, urlOf } = await startReported();
      expect(await chaptersOf(`${url}?${query}${format}`)).toEqual(within(expected));
      if (format !== '' || /tags|start/.test(query)) return;
      const combined = await sendRequest(`${urlOf('Combined')}?${query}`);
      expect(combined.body.equals((await sendRequest(`${url}?${query}`)).body)).toBe(true);
      const [, place = ''] = /\?(.*)$/.exec(combined.headers['content-location'] ?? '') ?? [];
      expect(decodeURIComponent(place).split('&').toSorted()).toEqual(query.split('&').toSorted());
    });

    it('is a chapter by its number, without what is skipped in it', async () => {
      const { url } = await startReported();
      for (const [index, seconds] of [2.537, 1.053, 1.6].entries()) {
        const chapter = `${url}?chapter=${index + 1}&skip=sponsor${format}`;
        // What ffprobe says of MP3 includes delay and padding.
        const durationSeconds = format.endsWith('mp3')
          ? (await heardSamples(chapter)).length / AUDIO_RATE
          : (await probe(chapter)).durationSeconds;
        expect(durationSeconds).toSatisfy((found) => isNear(found, seconds), `of ${seconds} s`);
      }
    });
  });

  it('applies to the entries of an archive, where those that cannot be cut are missing', async () => {
    const segments = await startSegmentsService(answerSegments(segmentOf(1, 2)));
    const source = await media.load('ladder/both-360.mp4');
    const tracks = [trackOf('mp4'), trackOf('webm', { container: 'webm' })];
    const resources = tracks.map((track, index) => resourceOf([track], { origin, id: `r${index}`.padEnd(22, '_') }));
    const url = 'https://site.example/list';
    const list = { id: archiveKey(url), url, title: 'A', author: null, expiresAt: 2e9 };
    const entries = resources.map(({ id }) => ({ url: id, title: 't', author: null, coverUrl: null, resourceId: id }));
    const service = await startService(
      (id) => resources.find((resource) => resource.id === id),
      { mp4: source, webm: source },
      {
        ...segments.options,
        peekSource: async () => source,
        state: { getArchivedList: async () => ({ ...list, entries }) },
      },
    );
    const archiveUrl = `${service.url}/api/Stream/Archive/${list.id}`;
    const archive = await sendRequest(`${archiveUrl}?skip=sponsor`);
    const alone = await sendRequest(`${(await startSkipping(BOTH, [[1, 2]])).url}?skip=sponsor`);
    expect([archive.status, archive.headers['content-length']]).toEqual([200, String(archive.body.length)]);
    const block = Math.floor(alone.body.length / MAX_BLOCK_BYTES) - 1;
    const kept = alone.body.subarray(block * MAX_BLOCK_BYTES, (block + 1) * MAX_BLOCK_BYTES);
    expect([kept.length, archive.body.includes(kept)]).toEqual([MAX_BLOCK_BYTES, true]);
    expect(archive.body.toString('latin1')).toContain('MISSING: Unsupported');
    const marked = await sendRequest(`${archiveUrl}?mark=sponsor`);
    expect([marked.status, marked.body.includes('Sponsor')]).toEqual([200, true]);
    expect(marked.body.toString('latin1')).toContain('cannot hold chapters');
  });

  it.each<[string, Answer, Partial<Resource>?]>([
    ['other categories', answerSegments(segmentOf(1, 2, 'intro'))],
    ['another duration', answerSegments(segmentOf(1, 2, 'sponsor', { videoDuration: 297 }))],
    ['other actions', answerSegments(segmentOf(1, 2, 'sponsor', { actionType: 'mute' }))],
    ['no video of this prefix', (_, response) => response.writeHead(404).end()],
    ['an unknown site', answerSegments(segmentOf(1, 2)), { origin: { ...origin, extractor: 'Vimeo' } }],
  ])('is the whole file with %s', async (_, answer, item) => {
    const { url } = await start(BOTH, answer, item);
    const [part, whole] = await Promise.all([sendRequest(`${url}?skip=sponsor`), sendRequest(url)]);
    expect([part.status, part.body.equals(whole.body)]).toEqual([200, true]);
  });

  it.each<[string, Answer, boolean?]>([
    ['answers 500', (_, response) => response.writeHead(500).end()],
    ['answers no JSON', (_, response) => response.end('<html>')],
    ['answers a segment without times', answerSegments({ ...segmentOf(1, 2), segment: ['1', 2] })],
    ['answers too much', (_, response) => response.end(Buffer.alloc(2 * 1024 * 1024, ' '))],
    [
      'breaks off',
      (_, response) => response.writeHead(200, { 'content-length': 9 }).write('[', () => response.destroy()),
    ],
    ['has an address that the guard refuses', answerSegments(), false],
  ])('is 502 where the service of segments %s, and asks it again later', async (_, answer, isAdmitted) => {
    const { url, paths } = await start(BOTH, answer, {}, isAdmitted);
    for (const method of ['GET', 'HEAD', 'GET']) {
      const { status, headers } = await sendRequest(`${url}?skip=sponsor`, { method });
      expect([status, headers['cache-control']]).toEqual([502, 'no-store']);
    }
    // Twice, because a connection may drop.
    expect(paths.length).toBe(isAdmitted === false ? 0 : 2);
    expect((await sendRequest(url)).status).toBe(200);
  });

  it('lists the segments of an item in the order of their starts', async () => {
    const listOf = async ({ urlOf }: Awaited<ReturnType<typeof media.start>>) => {
      const [{ status, body }, former] = [
        await sendRequest(urlOf('SkipSegments')),
        await sendRequest(urlOf('Segments')),
      ];
      expect([former.status, former.body]).toEqual([status, body]);
      return [status, JSON.parse(body.toString()).segments];
    };
    const segments = [segmentOf(4, 5, 'outro'), segmentOf(1, 2.5), segmentOf(0, 9, 'intro', { videoDuration: 60 })];
    const reports = answerSegments(...segments);
    expect(await listOf(await start(BOTH, reports))).toEqual([
      200,
      [
        { category: 'sponsor', startSeconds: 1, endSeconds: 2.5 },
        { category: 'outro', startSeconds: 4, endSeconds: 5 },
      ],
    ]);
    const ofAnotherSite = { origin: { ...origin, extractor: 'Generic' } };
    expect(await listOf(await start(BOTH, reports, ofAnotherSite))).toEqual([200, []]);
    expect(await listOf(await media.start(BOTH))).toEqual([200, []]);
    const failed = await start(BOTH, (_, response) => void response.writeHead(500).end());
    expect(await listOf(failed)).toEqual([502, undefined]);
  });

  it('leaves out the same on all hosts until the next hour', async () => {
    const reports = [segmentOf(1, 2)];
    const { paths, ...service } = await createHosts((...sent) => answerSegments(...reports)(...sent));
    let hour = 1;
    const hosts = [1, 2, 3].map(() => service.createHost({ now: () => hour * 3_600_000 }));
    const heard = () => Promise.all(hosts.map((host) => host.list(service.resource)));
    const [first] = await heard();
    reports.push(segmentOf(4, 5));
    expect(await heard()).toEqual([first, first, first]);
    expect(first).toHaveLength(1);
    hour += 1;
    expect((await heard()).map(({ length }) => length)).toEqual([2, 2, 2]);
    expect(paths.length).toBeLessThan(7);
  });

  it('ends a request to a service that does not answer, which all that wait for it share', async () => {
    const { paths, resource, createHost } = await createHosts(() => undefined);
    const segments = createHost({ timeoutMs: 20 });
    const found = await Promise.allSettled([1, 2, 3].map(() => segments.apply(resource, { skip: ['sponsor'] })));
    expect(found.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(segments.apply(resource, { mark: ['intro'] })).rejects.toThrow(UpstreamError);
    expect(paths.length).toBeLessThan(2);
  });

  it.each([
    ['skip=sponsor,ads', 400, 'skip must be of sponsor'],
    ['skip=', 200, ''],
    ['skip=sponsor&end=1.5', 415, 'Nothing is shown'],
    ['start=1&skip=sponsor', 400, 'start cannot be combined with skip', 'Combined'],
    ['start=1&mark=sponsor', 400, 'start cannot be combined with mark', 'Combined'],
    ['mark=ads', 400, 'mark must be of sponsor', 'Combined'],
  ])('answers %s with %d', async (query, status, text, route = 'Media') => {
    const { urlOf } = await startSkipping(BOTH, [[0, 2]]);
    const answer = await sendRequest(`${urlOf(route)}?${query}`);
    expect([answer.status, status === 200 || answer.body.toString().includes(text)]).toEqual([status, true]);
  });

  it('is refused without a service', async () => {
    const { status, body } = await sendRequest(`${(await media.start(BOTH)).url}?skip=sponsor`);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([
      400,
      'SponsorBlock is not configured on this instance.',
    ]);
  });
});

/** A service of segments, and what makes hosts with one table that read it. */
async function createHosts(answer: Answer) {
  const { options: asked, paths } = await startSegmentsService(answer);
  const state = tableOf(new Map());
  const createHost = (options: Partial<SkipSegmentsOptions>) =>
    createSkipSegments({ ...asked, log: silentLog, state, ...options });
  return { paths, createHost, resource: resourceOf([trackOf('mp4')], { origin }) };
}

const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, [from, to]) => sum + to - from, 0);
