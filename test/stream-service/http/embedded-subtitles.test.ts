import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Resource, Subtitle } from '../../../core/state/resource.ts';
import type { Source } from '../../../stream-service/source/source.ts';
import { itInChromium, launchChromium } from '../../support/chromium.ts';
import { inspect, runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { codedSound, ffmpeg as encode, randomFrom, writeWav } from '../conversions/mp3/coded-sound.ts';
import { fileSource } from '../conversions/mp3/fixture.ts';
import { audioTrack, combinedKey, mediaKey, resourceOf, type Service, startService, videoTrack } from '../fixture.ts';
import { playAndSeek } from '../virtual-mp4/player.ts';

const SECONDS = 20;
const CUES = `WEBVTT

00:01.000 --> 00:03.500
Hello <b>there</b> & <script>alert(1)</script>

00:03.000 --> 00:04.000
Überlappung 😀

00:12.000 --> 00:13.000
Second part

00:19.500 --> 00:59.000
Beyond the end
`;
/** As players show them: the overlap has both lines, and the end is that of the media. */
const SHOWN = [
  ['00:00:01,000 --> 00:00:03,000', 'Hello there & alert(1)'],
  ['00:00:03,000 --> 00:00:03,500', 'Hello there & alert(1)\nÜberlappung 😀'],
  ['00:00:03,500 --> 00:00:04,000', 'Überlappung 😀'],
  ['00:00:12,000 --> 00:00:13,000', 'Second part'],
  ['00:00:19,500 --> 00:00:20,000', 'Beyond the end'],
];
const subtitle = (language: string, isAutomatic = false): Subtitle => ({
  id: `${language}-${isAutomatic}`,
  formatId: `${isAutomatic ? 'captions' : 'subtitles'}:${language}`,
  language,
  isAutomatic,
});
const subtitleTrack = (formatId: string) => ({
  ...videoTrack({ video: null, container: 'vtt' }),
  formatId,
  url: `https://site.example/${formatId}`,
});

/** Each cue is shown until the end: joined, they are a thousand times as large as the file. */
const overlapping = () =>
  Array.from({ length: 2000 }, (_, index) => {
    const start = (index / 200).toFixed(3).padStart(6, '0');
    return `00:${start} --> 00:19.000\n${'a'.repeat(1900)}\n`;
  }).join('\n');

const FRAGMENTED = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx', '-frag_duration', '2000000'];
const KINDS = { progressive: [], fragmented: FRAGMENTED } as const;

describe.each(Object.entries(KINDS))('?subtitles= of a %s pair', (_kind, flags) => {
  const frozen = new Map<string, Buffer>();
  const files = new Map<string, Buffer>();
  let service: Service;
  let url: string;
  let whole: Buffer;

  const start = (text: Source = fileSource(Buffer.from(CUES)), stored = new Map<string, Buffer>()) => {
    const media = [videoTrack(), audioTrack()];
    const languages = [subtitle('de', true), subtitle('de'), subtitle('pt-BR')];
    const base = resourceOf(media, { durationSeconds: SECONDS, subtitles: languages });
    const resource: Resource = {
      ...base,
      tracks: [...media, ...languages.map(({ formatId }) => subtitleTrack(formatId))],
    };
    const sourceOf = (formatId: string) => {
      if (formatId === 'captions:de') throw new Error('Automatic captions were read');
      const file = files.get(formatId);
      return file ? fileSource(file) : text;
    };
    return startService(
      resource,
      {},
      {
        openSource: async (_, { formatId }) => sourceOf(formatId),
        peekSource: async (_, { formatId }) => sourceOf(formatId),
        state: {
          getResource: async (id) => (id === resource.id ? resource : undefined),
          touchResource: async () => undefined,
          putExactSize: async () => undefined,
          getArchivedList: async () => undefined,
          touchArchivedList: async () => undefined,
          getAttachment: async (id, name) => stored.get(id + name),
          putAttachment: async (id, name, bytes) => {
            if (!stored.has(id + name)) stored.set(id + name, bytes);
            return stored.get(id + name) ?? bytes;
          },
        },
      },
    );
  };
  const pathOf = (query: string, endpoint = 'Media') => `/api/Stream/${endpoint}/${combinedKey()}?${query}`;

  beforeAll(async () => {
    await withTemporaryFolder(async (folder) => {
      await writeWav(join(folder, 'sound.wav'), codedSound(SECONDS));
      const picture = ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${SECONDS}`];
      const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-pix_fmt', 'yuv420p'];
      await encode(...picture, ...h264, ...flags, join(folder, 'video.mp4'));
      await encode('-i', join(folder, 'sound.wav'), '-c:a', 'aac', ...flags, '-f', 'mp4', join(folder, 'audio.m4a'));
      files.set('video', await readFile(join(folder, 'video.mp4')));
      files.set('audio', await readFile(join(folder, 'audio.m4a')));
    });
    service = await start(undefined, frozen);
    url = service.url + pathOf('subtitles=de');
  }, 120_000);
  afterAll(() => service?.close());

  it('has a length, and the same bytes for any range', async () => {
    const before = await sendRequest(url, { method: 'HEAD' });
    expect([before.status, before.headers['content-length'], before.headers.etag]).toEqual([200, undefined, undefined]);
    const { status, headers, body } = await sendRequest(url);
    whole = body;
    expect([status, headers['content-length'], headers['accept-ranges']]).toEqual([200, String(body.length), 'bytes']);
    const after = await sendRequest(url, { method: 'HEAD' });
    expect([after.headers['content-length'], after.headers.etag]).toEqual([String(body.length), headers.etag]);
    const random = randomFrom(5);
    for (let round = 0; round < 40; round += 1) {
      const first = Math.floor(random() * whole.length);
      const last = Math.min(first + Math.floor(random() ** 3 * 100_000), whole.length - 1);
      const part = await sendRequest(url, { headers: { range: `bytes=${first}-${last}` } });
      expect(part.body.equals(whole.subarray(first, last + 1)), `${first}-${last}`).toBe(true);
    }
  });

  it('shows the subtitles in FFmpeg and mpv, beside the same audio and video', async () => {
    const { streams, complaints } = await inspect(whole, '.mp4');
    expect([streams.map(({ codec }) => codec), complaints]).toEqual([['h264', 'aac', 'mov_text'], '']);
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'embedded.mp4');
      await writeFile(file, whole);
      await encode('-i', file, '-map', '0:s:0', '-f', 'srt', join(folder, 'out.srt'));
      const shown = (await readFile(join(folder, 'out.srt'), 'utf8')).replaceAll('\r', '').trim().split(/\n\n/);
      expect(shown.map((cue) => [cue.split('\n')[1], cue.split('\n').slice(2).join('\n')])).toEqual(SHOWN);

      const language = [
        '-v',
        'error',
        '-select_streams',
        's',
        '-show_entries',
        'stream_tags=language',
        '-of',
        'csv=p=0',
      ];
      expect((await runProgram('ffprobe', [...language, file])).output.trim()).toBe('deu');
      const mpv = await runProgram('mpv', [
        '--no-config',
        '--vo=null',
        '--ao=null',
        '--start=11',
        '--length=0.2',
        file,
      ]);
      expect(mpv.output).toMatch(/Subs.*--slang=deu.*mov_text/);

      const plain = join(folder, 'plain.mp4');
      await writeFile(plain, (await sendRequest(service.url + pathOf(''))).body);
      const digest = ['-nostdin', '-v', 'error', '-map', '0:v', '-map', '0:a', '-c', 'copy', '-f', 'md5', '-'];
      const [one, other] = await Promise.all(
        [file, plain].map((input) => runProgram('ffmpeg', ['-i', input, ...digest])),
      );
      expect(one?.output).toMatch(/MD5=/);
      expect(one?.output.match(/MD5=\w+/)).toEqual(other?.output.match(/MD5=\w+/));
    });
  });

  itInChromium('plays and seeks in Chromium', async () => {
    await using browser = await launchChromium('LocalNetworkAccessChecks');
    const page = await browser.newPage();
    await page.setContent(`<video muted preload="metadata" src="${url}"></video>`, { waitUntil: 'commit' });
    const { duration, seeks } = await page.$eval('video', playAndSeek, [15, 3]);
    expect([Math.round(duration), seeks]).toEqual([SECONDS, [15, 3]]);
  });

  it('is sent by Combined too, with the address of the same bytes', async () => {
    const { status, headers, body } = await sendRequest(service.url + pathOf('subtitles=DE', 'Combined'));
    expect([status, headers['accept-ranges'], body.equals(whole)]).toEqual([200, 'none', true]);
    expect(headers['content-location']).toBe(`/api/Stream/Media/${combinedKey()}?subtitles=DE`);
  });

  it('stays the same on another host and after the file has changed', async () => {
    const other = await start(fileSource(Buffer.from(CUES.replace('Second', 'Third'))), frozen);
    expect((await sendRequest(other.url + pathOf('subtitles=de'))).body.equals(whole)).toBe(true);
    const changed = await sendRequest(other.url + pathOf('subtitles=pt-BR'));
    expect(changed.status).toBe(200);
    expect(changed.body.includes('Third part')).toBe(true);
    await other.close();
  });

  it('can have tags too', async () => {
    const { body } = await sendRequest(service.url + pathOf('subtitles=de&tags=true'));
    expect(body.length).toBe(whole.length + 65_536);
    const { codecs, tags, complaints } = await inspect(body, '.mp4');
    expect([codecs, tags.title, complaints]).toEqual([['h264', 'aac', 'mov_text'], 'A clip', '']);
  });

  it.each([
    ['subtitles=fr', 400, 'There are no subtitles in fr. There are: de, pt-BR.'],
    ['subtitles=', 400, 'subtitles has to be a language, such as en'],
    ['subtitles=..%2F', 400, 'subtitles has to be a language, such as en'],
    ['subtitles=de&subtitles=de', 400, 'subtitles is given more than once'],
    ['subtitles=de&start=1', 400, 'subtitles cannot be combined with start or end.'],
    ['subtitles=de&format=mp3', 400, 'subtitles cannot be combined with format.'],
  ])('answers %s with %d and a reason', async (query, expected, detail) => {
    const { status, body } = await sendRequest(service.url + pathOf(query));
    expect([status, JSON.parse(body.toString()).detail]).toEqual([expected, detail]);
  });

  it('is 415 with a reason for more subtitles than a layout holds', async () => {
    const flood = fileSource(Buffer.from(`WEBVTT\n\n${overlapping()}`));
    const flooded = await start(flood);
    const { status, body } = await sendRequest(flooded.url + pathOf('subtitles=de'));
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, 'The subtitles are too large to embed.']);
    await flooded.close();
  });

  it('is 415 with a reason for a single file', async () => {
    const { status, body } = await sendRequest(`${service.url}/api/Stream/Media/${mediaKey('video')}?subtitles=de`);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, expect.stringContaining('a pair of')]);
  });

  const endless = () =>
    Readable.from(
      Array.from({ length: 100 }, () => Buffer.alloc(65_536, 0x20)),
      { objectMode: false },
    );
  it.each<[string, Source]>([
    ['a page', fileSource(Buffer.from('<!doctype html><title>Sign in</title>'))],
    ['empty', fileSource(Buffer.alloc(0))],
    ['too large', { ...fileSource(Buffer.alloc(1)), size: undefined, read: endless }],
  ])('is 502 where the file is %s', async (_, text) => {
    const faulty = await start(text);
    expect((await sendRequest(faulty.url + pathOf('subtitles=de'))).status).toBe(502);
    expect((await sendRequest(faulty.url + pathOf(''))).status).toBe(200);
    await faulty.close();
  });
});
