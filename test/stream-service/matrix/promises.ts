import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toPlayback } from '../../../lambdas/api/get-playback.ts';
import { createFaultHandler, type Fault, type FaultHandler, type SeenRequest } from '../../origin/faults.ts';
import { inspect, probe, probeBody, withTemporaryFolder } from '../../support/media-tools.ts';
import { type ReceivedResponse, sendRequest } from '../../support/request.ts';
import { expectRanges } from '../../support/seekable.ts';
import { expectBothAfterSeeks, type FolderSite } from '../folder-site.ts';
import { detailsOf } from '../http/probed-details.ts';
import { AUDIO_RATE, type Decoded, decode, heardSamples } from '../outputs/layout/clip-fixture.ts';
import { melody } from '../tones.ts';
import { SECONDS, type Source } from './sources.ts';
import { expectUnmixed } from './twins.ts';
import { CHAPTERS, type Process, SPONSORED, type Streams } from './use-streams.ts';

/* The columns of the matrix: what is promised of every source. */

export interface Cell {
  readonly site: FolderSite;
  readonly source: Source;
  readonly streams: Streams;
  readonly process: Process;
  /** What `Media/KEY` is sent as. */
  whole(): Promise<ReceivedResponse>;
}

export interface Promised {
  /** What is asked for. */
  readonly path: string;
  /** Who may keep it, if it has what a file has. `none`: it has not. @default 'public' */
  readonly cache?: 'public' | 'private' | 'no-store' | 'none';
  /** @param sent the answer to it */
  holds(sent: ReceivedResponse, cell: Cell): Promise<void>;
}

const FRAME_SECONDS = 0.04;

const save = <T>(body: Buffer, use: (file: string) => Promise<T>): Promise<T> =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, 'body.mp4');
    await writeFile(file, body);
    return use(file);
  });

/** Of what does not change. */
const decodedOf = new WeakMap<ReceivedResponse, Promise<Decoded>>();
function decodeWhole(whole: ReceivedResponse): Promise<Decoded> {
  const decoded = decodedOf.get(whole) ?? save(whole.body, (file) => decode([file]));
  decodedOf.set(whole, decoded);
  return decoded;
}

const shownAt = ({ frames }: Decoded, seconds: number) => frames.findLast((frame) => frame.seconds <= seconds)?.digest;

/** A part of some seconds, whose pictures are those of the whole at the times beside. */
const part = (query: string, seconds: number, times: Readonly<Record<number, number>>): Promised => ({
  path: `Media/KEY?${query}`,
  cache: query.startsWith('skip') ? 'private' : 'public',
  async holds({ body }, { source, whole }) {
    const isLong = (samples: Int16Array) => Math.abs(samples.length / AUDIO_RATE - seconds) < 0.15;
    if (!source.video) {
      expect((await inspect(body, '.mp4')).complaints).toBe('');
      expect(await save(body, heardSamples)).toSatisfy(isLong, `has ${seconds} s`);
      return;
    }
    const [all, cut] = [await decodeWhole(await whole()), await save(body, (file) => decode([file]))];
    expect(cut.complaints).toBe('');
    expect(cut.samples).toSatisfy(isLong, `has ${seconds} s`);
    const { firstPicture = 0 } = source;
    for (const [shown, time] of Object.entries(times)) {
      const near = [-FRAME_SECONDS, 0, FRAME_SECONDS].map((moved) => shownAt(all, firstPicture + time + moved));
      expect(near, `at ${shown} s`).toContain(shownAt(cut, Number(shown)));
    }
  },
});

/** Packets of sound, as many as are heard in twelve seconds. */
const PACKETS_OF_12_S: Readonly<Record<string, number>> = { aac: 560, mp3: 455, ac3: 370, eac3: 370, opus: 599 };

const isOpus = ({ codecs }: Source) => codecs.includes('opus');
/** `FORMAT` is one that the sound is copied into. */
const sound = (query: string, seconds: number, extension?: string): Promised => ({
  path: `Media/KEY?format=${query}`,
  async holds({ body }, { source }) {
    const { complaints, durationSeconds } = await inspect(body, extension ?? (isOpus(source) ? '.opus' : '.m4a'));
    expect([complaints, Math.round(durationSeconds)]).toEqual(['', seconds]);
    expect(await melody(body)).toMatch(/^400×\d+$/);
  },
});

const whole = sound('FORMAT', SECONDS);
/** With every packet. */
const copied: Promised = {
  ...whole,
  async holds(sent, cell) {
    await whole.holds(sent, cell);
    const { site, source } = cell;
    if (!isOpus(source)) await site.expectPackets(sent.body, source.same.at(-1) ?? '', undefined, { sides: ['a'] });
  },
};

const FAULTY_FROM = 2000;
/** All of it by a process that knows nothing yet, of a source whose files have a fault. @param isMet for each of them */
const despite = (fault: Fault, isMet: (answers: readonly SeenRequest[], streams: Streams) => boolean): Promised => ({
  path: 'Media/KEY',
  cache: 'none',
  async holds({ body }, { site, streams }) {
    const media = [...new Set(site.asked)].filter((path) => !/m3u8|vtt|jpg|key/.test(path));
    const large = media.filter((path) => site.read(path).length > FAULTY_FROM);
    const handlers = large.map((path) => createFaultHandler({ bytes: site.read(path), fault }));
    for (const [index, path] of large.entries()) site.handlers.set(path, handlers[index] as FaultHandler);
    const other = await streams.start();
    expect((await sendRequest(other.at('Media/KEY'))).body.equals(body)).toBe(true);
    const met = handlers.map(({ seen }, index) => [large[index], isMet(seen, streams)]);
    expect(met).toEqual(large.map((path) => [path, true]));
    expect(large).not.toEqual([]);
  },
});

export const promises = {
  whole: {
    path: 'Media/KEY',
    async holds({ body }, { site, source }) {
      const { codecs, complaints, durationSeconds } = await inspect(body, '.mp4');
      const told = { codecs, complaints, seconds: Math.round(durationSeconds) };
      expect(told).toEqual({ codecs: source.codecs, complaints: '', seconds: SECONDS });
      const [video, audio = video] = source.same;
      await site.expectPackets(body, video, audio, source.compared);
    },
  },
  'other processes': {
    path: 'Media/KEY',
    cache: 'none',
    async holds(sent, { streams, process }) {
      for (const attachments of [undefined, new Map(process.attachments)])
        await expectRanges((await streams.start(attachments)).at('Media/KEY'), sent);
    },
  },
  seek: {
    path: 'Media/KEY',
    cache: 'none',
    holds: ({ body }, { source }) => expectBothAfterSeeks(body, PACKETS_OF_12_S[source.codecs.at(-1) ?? ''] ?? 0),
  },
  combined: {
    path: 'Combined/KEY',
    cache: 'none',
    async holds({ headers, body }, { whole }) {
      expect([headers['accept-ranges'], body.equals((await whole()).body)]).toEqual(['none', true]);
    },
  },
  clip: part('start=5.4&end=9', 3.6, { 0.02: 5.42, 2: 7.4 }),
  chapter: part('chapter=2', SECONDS - 8, { 0.02: 8.02, 3.5: 11.5 }),
  skip: part('skip=sponsor', SECONDS - (SPONSORED.to - SPONSORED.from), { 5: 5, 5.5: 9.82, 12: 16.32 }),
  mark: {
    path: 'Media/KEY?mark=sponsor',
    cache: 'private',
    async holds({ body }) {
      expect((await detailsOf(body)).chapters.map(([, at]) => at)).toEqual([0, 5.3, 9.6]);
    },
  },
  tags: {
    path: 'Media/KEY?tags=true',
    async holds({ headers, body }, { source, process, whole }) {
      const plain = await whole();
      expect(headers.etag).not.toBe(plain.headers.etag);
      // That of the rendition is stored.
      expect([...process.sizes.values()]).not.toContain(body.length);
      const { codecs, complaints, tags } = await inspect(body, '.mp4');
      // Chapters are a track of text.
      const held = { codecs: codecs.toSorted(), complaints, title: tags.title };
      expect(held).toEqual({
        codecs: [...source.codecs, 'bin_data', 'mjpeg'].toSorted(),
        complaints: '',
        title: 'A clip',
      });
      expect((await detailsOf(body)).chapters).toEqual(
        CHAPTERS.map(({ title, startSeconds }) => [title, startSeconds]),
      );
    },
  },
  subtitles: {
    path: 'Media/KEY?subtitles=en',
    async holds({ body }, { source }) {
      const { codecs, complaints } = await inspect(body, '.mp4');
      expect({ codecs, complaints }).toEqual({ codecs: [...source.codecs, 'mov_text'], complaints: '' });
    },
  },
  language: {
    path: 'Media/KEY?audio=de',
    async holds({ body }, { source, whole }) {
      expect((await probeBody(body, '.mp4')).codecs).toEqual(source.codecs);
      expect([await melody(body), await melody((await whole()).body)]).toEqual([
        expect.stringMatching(/^900×/),
        expect.stringMatching(/^400×/),
      ]);
    },
  },
  'all languages': {
    path: 'Media/KEY?audio=all',
    async holds({ body }, { source }) {
      const { codecs, complaints } = await inspect(body, '.mp4');
      expect({ codecs, complaints }).toEqual({
        codecs: [...source.codecs, ...source.codecs.slice(-1)],
        complaints: '',
      });
    },
  },
  copied,
  'copied clip': sound('FORMAT&start=5&end=9', 4),
  MP3: sound('mp3', SECONDS, '.mp3'),
  'MP3 clip': sound('mp3&start=5&end=9', 4, '.mp3'),
  WAV: sound('wav', SECONDS, '.wav'),
  keyframe: {
    path: 'Combined/KEY?start=9',
    cache: 'none',
    async holds({ headers, body }, { source }) {
      const start = Number(headers['x-argon-start']);
      // Sound begins anywhere.
      expect(start).toBeCloseTo(source.video ? 8 : 9, 0);
      expect((await probeBody(body, '.mp4')).durationSeconds).toBeCloseTo(SECONDS - start, 0);
    },
  },
  HLS: {
    path: 'Hls/KEY/master.m3u8',
    cache: 'none',
    async holds(_, { process, source }) {
      const { streams, durationSeconds } = await probe(process.at('Hls/KEY/master.m3u8'));
      expect(new Set(streams.map(({ type }) => type))).toEqual(new Set(source.video ? ['video', 'audio'] : ['audio']));
      expect(Math.round(durationSeconds)).toBe(SECONDS);
    },
  },
  ZIP: {
    path: 'Archive/LIST',
    cache: 'no-store',
    async holds({ body }, { process, source, streams: { resource }, whole }) {
      const { length } = (await whole()).body;
      expect(body.length).toBeGreaterThan(length);
      // From then on the length is told, and a player may read it in one piece.
      const [rendition] = resource.renditions;
      const bytes = process.sizes.get(rendition?.id ?? '');
      expect(bytes).toBe(length);
      const known = { ...resource, exactSizes: { [rendition?.id ?? '']: bytes ?? 0 } };
      if (source.video) expect(toPlayback(known, '').muxed).toMatchObject([{ fileSizeBytes: bytes }]);
    },
  },
  'drop and resume': despite(
    { name: 'drop', after: FAULTY_FROM, times: 2 },
    (answers) => answers.filter(({ state }) => state === 'left').length > 1,
  ),
  'expiry and renewal': despite(
    { name: 'status', status: 403, times: 1 },
    (answers, { renewals }) => answers.length > 1 && renewals > 0,
  ),
  'another file midway': {
    path: 'Media/KEY',
    cache: 'none',
    holds: (_, { site, source }) => expectUnmixed(site, source, 'Media/KEY'),
  },
} satisfies Readonly<Record<string, Promised>>;
export type PromiseName = keyof typeof promises;
