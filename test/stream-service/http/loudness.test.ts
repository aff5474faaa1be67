import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { toProblem } from '../../../core/api/problem.ts';
import { silentLog } from '../../../core/log/log.ts';
import type { Resource, Track } from '../../../core/state/resource.ts';
import { createFfmpegInputServer } from '../../../stream-service/ffmpeg/ffmpeg-input-server.ts';
import { runningFfmpegs } from '../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { createLoudnessMeter, type LoudnessDependencies } from '../../../stream-service/outputs/loudness.ts';
import type { Opening } from '../../../stream-service/outputs/representation.ts';
import { noopObserver, type StreamSession } from '../../../stream-service/sessions/stream-sessions.ts';
import { ensureMedia, madeFiles } from '../../origin/media.ts';
import { withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import {
  combinedKey,
  failingSource,
  ffmpeg,
  mediaKey,
  renditionOf,
  resourceOf,
  startService,
  trackOf,
  until,
  videoTrack,
} from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { itemOf } from '../outputs/languages/fixture.ts';
import { startUpstream } from '../source/upstream.ts';
import { useArchives } from './archive-fixture.ts';

const run = promisify(execFile);
const SECONDS = 8;
const noise = (amplitude: number, channels = 'stereo') => [
  ...['-f', 'lavfi', '-i', `anoisesrc=d=${SECONDS}:c=pink:a=${amplitude}:seed=7`],
  ...['-af', `aformat=sample_rates=48000:channel_layouts=${channels}`],
];
const PICTURE = ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${SECONDS}`];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-movflags', '+faststart'];
const AAC = ['-c:a', 'aac', '-b:a', '128k', '-movflags', '+faststart'];
const FOLDER = await madeFiles({
  'sound.m4a': [...noise(0.6), ...AAC],
  'quiet.m4a': [...noise(0.02), ...AAC],
  'mono.m4a': [...noise(0.6, 'mono'), ...AAC],
  'surround.m4a': [...noise(0.6, '5.1'), ...AAC],
  'silence.m4a': ['-f', 'lavfi', '-i', `anullsrc=d=${SECONDS}`, ...AAC],
  'short.m4a': ['-f', 'lavfi', '-i', 'sine=d=0.25', ...AAC],
  'video.mp4': [...PICTURE, ...H264],
  'both.mp4': [...PICTURE, ...noise(0.6), ...H264, ...AAC],
  'opus.mp4': [...noise(0.3), '-c:a', 'libopus', '-b:a', '96k'],
  'opus.webm': [...noise(0.3), '-c:a', 'libopus', '-b:a', '96k'],
});
const HLS = join(await ensureMedia(), 'hls/fmp4/index.m3u8');

const OPUS = { video: null, audio: { codec: 'opus' } };
const TRACKS: Readonly<Record<string, readonly [file: string, traits?: Partial<Track>]>> = {
  video: ['video.mp4', { audio: null }],
  audio: ['sound.m4a', { video: null, container: 'm4a' }],
  mono: ['mono.m4a', { video: null, container: 'm4a' }],
  surround: ['surround.m4a', { video: null, container: 'm4a' }],
  silence: ['silence.m4a', { video: null, container: 'm4a' }],
  short: ['short.m4a', { video: null, container: 'm4a' }],
  both: ['both.mp4'],
  claimed: ['video.mp4', { audio: {} }],
  opus: ['opus.mp4', OPUS],
  opusInWebm: ['opus.webm', { ...OPUS, container: 'webm' }],
  hls: [HLS, { delivery: 'hls' }],
};

/** An origin of the files of tracks, and the service, until the test ends. */
async function start(
  item: Partial<Resource> = {},
  { respond = sendFile, maxFfmpeg = 4, of = undefined as Resource | undefined } = {},
) {
  const upstream = await startUpstream();
  upstream.use(({ url = '', headers }, response) => respond(url, headers.range, response));
  const urlOf = (file: string) => upstream.origin + resolve(FOLDER, file);
  const tracks = Object.entries(TRACKS).map(([formatId, [file, traits]]) =>
    trackOf(formatId, { url: urlOf(file), ...traits }),
  );
  const plain = resourceOf(tracks, { durationSeconds: SECONDS });
  const all = { ...plain, renditions: [...plain.renditions, renditionOf(['video', 'audio'])], ...item };
  const resource = of ? { ...of, tracks: of.tracks.map((track) => ({ ...track, url: urlOf(track.url) })) } : all;
  const attachments = new Map<string, Buffer>();
  /** The names of what was measured. */
  const measured: string[] = [];
  const service = await startService(
    resource,
    {},
    {
      openSource: upstream.reader(),
      peekSource: upstream.reader(),
      limits: { maxStreams: 10, maxStreamsPerClient: 10, maxFfmpeg },
      attachments,
      state: {
        putAttachment: async (_, name, bytes) => {
          if (name.includes('loudness-')) measured.push(name);
          attachments.set(resource.id + name, bytes);
          return bytes;
        },
      },
    },
  );
  onTestFinished(async () => {
    await service.close();
    await upstream.close();
  });
  const media = (formatId: string, query = 'loudness=ebu') =>
    `${service.url}/api/Stream/Media/${mediaKey(formatId)}?${query}`;
  const combined = (query = 'loudness=ebu', endpoint = 'Combined') =>
    `${service.url}/api/Stream/${endpoint}/${combinedKey()}?${query}`;
  return { media, combined, measured, upstream };
}

/** @param endBytes what is sent at most */
function sendFile(
  path: string,
  range: string | undefined,
  response: ServerResponse,
  endBytes = Number.MAX_VALUE,
): void {
  const bytes = readFileSync(path);
  const [, from = 0, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const [first, last] = [Number(from), Math.min(Number(to || bytes.length - 1), bytes.length - 1)];
  response.writeHead(range ? 206 : 200, {
    'content-type': path.endsWith('.m3u8') ? 'application/vnd.apple.mpegurl' : 'video/mp4',
    'content-length': last - first + 1,
    ...(range && { 'content-range': `bytes ${first}-${last}/${bytes.length}` }),
  });
  const part = bytes.subarray(first, Math.min(last + 1, endBytes));
  if (part.length === last - first + 1) response.end(part);
  else response.write(part.length > 0 ? part : '');
}

/** What FFmpeg's summary says of a file, or of what was sent. */
async function measure(sound: string | Buffer, filters = '') {
  const file = typeof sound === 'string' ? resolve(FOLDER, sound) : '-';
  const args = ['-i', file, '-vn', '-af', `${filters}ebur128=peak=sample`, '-f', 'null', '-'];
  const running = run('ffmpeg', args, { maxBuffer: 1 << 26 });
  running.child.stdin?.end(typeof sound === 'string' ? '' : sound);
  const { stderr } = await running;
  const summary = stderr.slice(stderr.lastIndexOf('Summary:'));
  const read = (pattern: RegExp) => Number(pattern.exec(summary)?.[1]);
  return { lufs: read(/I: +(-?[\d.]+) LUFS/), peak: 10 ** (read(/Peak: +(-?[\d.]+) dBFS/) / 20) };
}

/** The tags that ffprobe reads, names in lower case, and the digests of the packets of each stream. */
const read = (body: Buffer, extension: string) =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, `read${extension}`);
    await writeFile(file, body);
    const entries = 'format_tags:stream_tags';
    const shown = await run('ffprobe', ['-v', 'error', '-of', 'json', '-show_entries', entries, file]);
    const { format, streams } = JSON.parse(shown.stdout) as Record<'format', Tagged> & Record<'streams', Tagged[]>;
    const all = [format, ...streams].flatMap(({ tags = {} }) => Object.entries(tags));
    const tags = Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value]));
    const hash = ['-v', 'error', '-i', file, '-map', '0', '-c', 'copy', '-f', 'streamhash', '-'];
    return { tags, packets: (await run('ffmpeg', hash)).stdout };
  });
interface Tagged {
  readonly tags?: Readonly<Record<string, string>>;
}

const hexOf = (value: number) => Math.round(value).toString(16).toUpperCase().padStart(8, '0');

/** dB, and a part of the peak. FFmpeg says both to three decimals, in its summary the peak to a tenth of a decibel. */
const MEASURED = { gain: 0.1, peak: 0.006 };
/** LAME leaves out the highest frequencies of noise. */
const CODED = { gain: 0.2, peak: 0.1 };

/** Expects the values of ReplayGain and Sound Check for audio that was measured. */
function expectGain(
  tags: Readonly<Record<string, string>>,
  { lufs, peak }: Awaited<ReturnType<typeof measure>>,
  error = MEASURED,
) {
  expect(tags.replaygain_track_gain).toMatch(/^-?\d+\.\d\d dB$/);
  expect(tags.replaygain_track_peak).toMatch(/^\d\.\d{6}$/);
  const [gain, largest] = [tags.replaygain_track_gain, tags.replaygain_track_peak].map((text = '') =>
    Number.parseFloat(text),
  );
  expect(Math.abs((gain ?? 0) - (-18 - lufs))).toBeLessThanOrEqual(error.gain);
  expect(Math.abs((largest ?? 0) - peak)).toBeLessThan(0.0006 + error.peak * peak);
  const [volume, other, sample] = [1000, 2500]
    .map((unit) => hexOf(unit * 10 ** (-(gain ?? 0) / 10)))
    .concat(hexOf((largest ?? 0) * 32_768));
  const words = tags.itunnorm?.trim().split(' ') ?? [];
  expect(words).toHaveLength(10);
  // The gain has two decimals.
  for (const [place, word] of [volume, volume, other, other, '0', '0', sample, sample, '0', '0'].entries())
    expect(Math.abs(Number.parseInt(words[place] ?? '', 16) / Number.parseInt(word ?? '', 16) || 1)).toBeCloseTo(1, 2);
}

const startArchive = useArchives();
afterEach(() => expect(runningFfmpegs()).toBe(0));

describe('?loudness=ebu', () => {
  it.each([
    ['audio', 'format=mp3', '.mp3', 'sound.m4a'],
    ['audio', 'format=mp3&bitrate=128', '.mp3', 'sound.m4a'],
    ['audio', 'format=m4a', '.m4a', 'sound.m4a'],
    ['audio', '', '.m4a', 'sound.m4a'],
    ['both', '', '.mp4', 'both.mp4'],
    ['both', 'start=2&end=6', '.mp4', 'both.mp4'],
    ['mono', 'format=mp3', '.mp3', 'mono.m4a'],
    ['surround', '', '.m4a', 'surround.m4a'],
  ])(
    'of %s?%s writes what FFmpeg measures, with length and ranges, and no other packets',
    async (formatId, query, extension, file) => {
      const { media } = await start();
      const url = media(formatId, `${query}&loudness=ebu`);
      const before = await sendRequest(url, { method: 'HEAD' });
      const { body } = await expectSeekable(url);
      expect([before.headers['content-length'], before.headers.etag]).toEqual([String(body.length), undefined]);
      const { tags, packets } = await read(body, extension);
      expect(tags).toMatchObject({ title: 'A clip', artist: 'Someone' });
      if (extension === '.mp3') expectGain(tags, await measure(body), CODED);
      else expectGain(tags, await measure(file));
      const plain = await sendRequest(media(formatId, `${query}&tags=true`));
      expect(packets).toBe((await read(plain.body, extension)).packets);
    },
  );

  it('is that of the stereo which MP3 has, of more channels', async () => {
    const { media, measured } = await start();
    const { body } = await sendRequest(media('surround', 'format=mp3&loudness=ebu'));
    const { tags } = await read(body, '.mp3');
    expectGain(tags, await measure(body), CODED);
    await sendRequest(media('surround'));
    expect(measured).toEqual(['stereo-loudness-surround', 'loudness-surround']);
  });

  it.each(['opus', 'opusInWebm'])('of %s is the gain of Ogg Opus', async (formatId) => {
    const { media } = await start();
    const { body } = await sendRequest(media(formatId, 'format=opus&loudness=ebu'));
    const { tags, packets } = await read(body, '.opus');
    const { lufs } = await measure(TRACKS[formatId]?.[0] ?? '');
    expect(tags.r128_track_gain).toMatch(/^-?\d+$/);
    expect(Math.abs(Number(tags.r128_track_gain) / 256 - (-23 - lufs))).toBeLessThanOrEqual(0.1);
    expect(tags).not.toHaveProperty('replaygain_track_gain');
    expect(packets).toBe((await read((await sendRequest(media(formatId, 'format=opus'))).body, '.opus')).packets);
  });

  it('of a pair is the same on Combined and Media, and measured once for all who ask at once', async () => {
    const { combined, measured } = await start();
    const answers = await Promise.all([
      sendRequest(combined()),
      sendRequest(combined()),
      sendRequest(combined('loudness=ebu', 'Media')),
    ]);
    const [first] = answers;
    expect(answers.map(({ status, body }) => [status, body.equals(first.body)])).toEqual(Array(3).fill([200, true]));
    expect(first.headers['content-location']).toBe(
      `${new URL(combined('loudness=ebu', 'Media')).pathname}?loudness=ebu`,
    );
    const { tags, packets } = await read(first.body, '.mp4');
    expectGain(tags, await measure('sound.m4a'));
    expect(packets).toBe((await read((await sendRequest(combined(''))).body, '.mp4')).packets);
    await expectSeekable(combined('loudness=ebu', 'Media'));
    expect(measured).toEqual(['loudness-audio']);
  });

  it('of HLS is part of what is muxed', async () => {
    const { media } = await start();
    const { status, body } = await sendRequest(media('hls'));
    expect(status).toBe(200);
    const { tags, packets } = await read(body, '.mp4');
    expectGain(tags, await measure(HLS));
    expect(packets).toBe((await read((await sendRequest(media('hls', ''))).body, '.mp4')).packets);
  });

  it('is that of the chosen language, of all languages that of the first', async () => {
    const dubs = [
      { language: 'en', track: { url: 'sound.m4a', container: 'm4a' } },
      { language: 'de', track: { url: 'quiet.m4a', container: 'm4a' } },
    ];
    const { media, measured } = await start(
      {},
      { of: itemOf(dubs, videoTrack({ url: 'video.mp4' }), { durationSeconds: SECONDS }) },
    );
    for (const [audio, file] of [
      ['de', 'quiet.m4a'],
      ['all', 'sound.m4a'],
    ] as const) {
      const { body } = await sendRequest(media('video', `audio=${audio}&loudness=ebu`));
      expectGain((await read(body, '.mp4')).tags, await measure(file));
    }
    expect(measured).toEqual(['loudness-de', 'loudness-en']);
  });

  it('is that of each entry of an archive', async () => {
    const names = ['sound.m4a', 'quiet.m4a'];
    const entries = names.map((name) => {
      const source = fileSource(readFileSync(join(FOLDER, name)));
      return { source, isUnsized: true, resource: { durationSeconds: SECONDS } };
    });
    const { url } = await startArchive(entries);
    const { body } = await sendRequest(url('?loudness=ebu'));
    const gains = [...body.toString('latin1').matchAll(/replaygain_track_gain.{4}data.{8}(-?[\d.]+) dB/gs)];
    expect(gains).toHaveLength(names.length);
    for (const [index, name] of names.entries())
      expect(Math.abs(Number(gains[index]?.[1]) - (-18 - (await measure(name)).lufs))).toBeLessThanOrEqual(0.1);
  });

  it.each(['silence', 'short'])('of %s changes nothing', async (formatId) => {
    const { media } = await start();
    const { tags } = await read((await sendRequest(media(formatId))).body, '.m4a');
    expect([tags.replaygain_track_gain, tags.itunnorm?.slice(0, 18)]).toEqual(['0.00 dB', ' 000003E8 000003E8']);
    const { body } = await sendRequest(media(formatId, 'format=mp3&loudness=ebu'));
    expect((await read(body, '.mp3')).tags.replaygain_track_gain).toBe('0.00 dB');
  });

  it.each(['video', 'claimed'])('of %s, which has no audio, is left out', async (formatId) => {
    const { media } = await start();
    const { body } = await expectSeekable(media(formatId));
    const { tags } = await read(body, '.mp4');
    expect([tags.title, tags.replaygain_track_gain]).toEqual(['A clip', undefined]);
  });

  it('has no room in WAV and in other containers, which stay as they are', async () => {
    const { media, measured } = await start();
    for (const [formatId, query] of [
      ['audio', 'format=wav'],
      ['opusInWebm', ''],
    ] as const) {
      const [with_, without] = await Promise.all(
        [`${query}&loudness=ebu`, query].map(async (text) => (await sendRequest(media(formatId, text))).body),
      );
      expect(with_?.equals(without ?? Buffer.alloc(0))).toBe(true);
    }
    expect(measured).toEqual([]);
  });

  it('is not measured for HEAD, and not again once it is stored', async () => {
    const { media, measured, upstream } = await start();
    for (const query of ['loudness=ebu', 'format=mp3&loudness=ebu']) {
      expect((await sendRequest(media('audio', query), { method: 'HEAD' })).headers).not.toHaveProperty('etag');
    }
    expect(measured).toEqual([]);
    const first = await sendRequest(media('audio'));
    let requests = 0;
    upstream.use(({ url = '', headers }, response) => {
      requests += 1;
      sendFile(url, headers.range, response);
    });
    const again = await sendRequest(media('audio'));
    const plain = await sendRequest(media('audio', ''));
    expect([again.body.equals(first.body), again.headers.etag, measured.length]).toEqual([true, first.headers.etag, 1]);
    expect([plain.body.equals(readFileSync(join(FOLDER, 'sound.m4a'))), requests]).toEqual([true, 2]);
  });

  it('ends with the clients that wait for it, and is measured for the next one', async () => {
    let isStalled = true;
    const half = readFileSync(join(FOLDER, 'sound.m4a')).length / 2;
    const { media, measured } = await start(
      {},
      { respond: (path, range, response) => sendFile(path, range, response, isStalled ? half : undefined) },
    );
    const leaving = [new AbortController(), new AbortController()];
    const asked = leaving.map(({ signal }) => sendRequest(media('audio', 'format=mp3&loudness=ebu'), { signal }));
    const settled = Promise.allSettled(asked);
    await until(() => runningFfmpegs() === 1);
    for (const client of leaving) client.abort();
    await settled;
    await until(() => runningFfmpegs() === 0);
    expect(measured).toEqual([]);
    isStalled = false;
    expect((await sendRequest(media('audio', 'format=mp3&loudness=ebu'))).status).toBe(200);
  });

  it('is 502 for a source that fails midway, which is not stored', async () => {
    let isBroken = true;
    const half = readFileSync(join(FOLDER, 'sound.m4a')).length / 2;
    const { media, measured } = await start(
      {},
      {
        respond(path, range, response) {
          sendFile(path, range, response, isBroken ? half : undefined);
          if (isBroken && !response.writableEnded) setImmediate(() => response.destroy());
        },
      },
    );
    for (const query of ['loudness=ebu', 'format=mp3&loudness=ebu']) {
      const { status, body } = await sendRequest(media('audio', query));
      expect([status, JSON.parse(body.toString()).type]).toEqual([502, '/problems/site-error']);
    }
    expect(measured).toEqual([]);
    isBroken = false;
    expect((await sendRequest(media('audio'))).status).toBe(200);
  });

  /** Measures a track of a source alone. */
  async function measureAlone(
    options: Partial<LoudnessDependencies>,
    openSource: Opening['openSource'],
    { signal } = new AbortController(),
  ) {
    const inputServer = await createFfmpegInputServer();
    onTestFinished(() => inputServer.close());
    const stored = Promise.withResolvers<Buffer>();
    const putAttachment = async (_id: string, _name: string, bytes: Buffer) => {
      stored.resolve(bytes);
      return bytes;
    };
    const meter = createLoudnessMeter({
      ...{ inputServer, log: silentLog, observer: noopObserver, ...options },
      state: { getAttachment: async () => undefined, putAttachment },
      requireFfmpeg: async () => ffmpeg,
      admission: { acquireFfmpeg: () => () => undefined },
    });
    const track = trackOf('sound');
    const session = { client: '', signal } as StreamSession;
    const found = meter.find(resourceOf([track]), { track }, { session, isForHead: false, openSource });
    return { found: found.catch((error) => error), stored: stored.promise };
  }

  it('goes on without a client that has waited for as long as a proxy in between does', async () => {
    const isOpen = Promise.withResolvers<void>();
    const openSource = async () => {
      await isOpen.promise;
      return fileSource(readFileSync(join(FOLDER, 'sound.m4a')));
    };
    const client = new AbortController();
    const { found, stored } = await measureAlone({ patienceMs: 0 }, openSource, client);
    client.abort();
    expect(await found).toBe(client.signal.reason);
    isOpen.resolve();
    expect(JSON.parse((await stored).toString())).toMatchObject({ integratedLufs: expect.any(Number) });
  });

  it('is 502 where it takes too long', async () => {
    const stalled = failingSource(fileSource(readFileSync(join(FOLDER, 'sound.m4a'))), 1000);
    const { found } = await measureAlone({ timeoutMs: 50 }, async () => stalled);
    expect(toProblem(await found).details).toMatchObject({
      status: 502,
      type: '/problems/site-timeout',
    });
    await until(() => runningFfmpegs() === 0);
  });

  it('is 503 without a process for it, and 415 beyond four hours', async () => {
    const { media } = await start({}, { maxFfmpeg: 0 });
    expect((await sendRequest(media('audio'))).status).toBe(503);
    const long = await start({ durationSeconds: 4 * 3600 + 1 });
    for (const query of ['loudness=ebu', 'format=mp3&loudness=ebu'])
      for (const method of ['GET', 'HEAD']) {
        const { status } = await sendRequest(long.media('audio', query), { method });
        expect([query, method, status]).toEqual([query, method, 415]);
      }
  });

  it.each(['', '&format=mp3', '&start=-30', '&from=start'])('of a live stream is 400 with%s', async (query) => {
    const { media, combined } = await start({ isLive: true, durationSeconds: undefined });
    for (const url of [media('hls', `loudness=ebu${query}`), combined()]) {
      const { status, body } = await sendRequest(url);
      expect([status, JSON.parse(body.toString()).detail]).toEqual([400, expect.stringMatching(/live stream/)]);
      expect((await sendRequest(url, { method: 'HEAD' })).status).toBe(400);
    }
  });

  it.each(['loudness=true', 'loudness=EBU', 'loudness=ebu&loudness=ebu'])('answers %s with 400', async (query) => {
    const { media, combined } = await start();
    for (const url of [media('audio', query), combined(query)]) {
      const { status, body } = await sendRequest(url);
      expect([status, JSON.parse(body.toString()).detail]).toEqual([400, expect.stringContaining('loudness')]);
    }
  });
});
