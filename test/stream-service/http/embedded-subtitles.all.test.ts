import { readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Source } from '@reelay/source';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Resource, Subtitle, Track } from '../../../core/state/resource.ts';
import { madeFile } from '../../origin/media.ts';
import { itInChromium } from '../../support/chromium.ts';
import { packetsIn } from '../../support/expect-packets.ts';
import { inspect, runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../support/segments-service.ts';
import {
  audioTrack,
  combinedKey,
  mediaKey,
  renditionOf,
  resourceOf,
  type Service,
  type ServiceFixtureOptions,
  startService,
  trackOf,
  videoTrack,
} from '../fixture.ts';
import { ffmpeg as encode } from '../outputs/encode/mp3/coded-sound.ts';
import { encodedSounds } from '../outputs/encode/mp3/encoded-sound.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { itPlaysInChromium, playUrl } from '../outputs/layout/player.ts';

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
/** Where audio has priming, the presentation is up to a packet longer. */
const SHOWN_TO_END = SHOWN.with(-1, [expect.stringMatching(/^00:00:19,500 --> 00:00:20,0\d\d$/), 'Beyond the end']);
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

/** Each cue is shown until the end: joined, eight at once, they have 6 MB. */
const overlapping = () =>
  Array.from({ length: 400 }, (_, index) => {
    const start = (index / 200).toFixed(3).padStart(6, '0');
    return `00:${start} --> 00:19.000\n${'a'.repeat(1900)}\n`;
  }).join('\n');

const FRAGMENTED = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx', '-frag_duration', '2000000'];
const KINDS = { progressive: [], fragmented: FRAGMENTED } as const;

interface EmbeddingOptions {
  readonly tracks: readonly Track[];
  /** By format id. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly text?: Source;
  readonly stored?: Map<string, Buffer>;
  readonly traits?: Partial<Resource>;
  readonly service?: Pick<ServiceFixtureOptions, 'sponsorblockUrl' | 'request'>;
}

/** A service with subtitles in German, made by people and automatic, and in Portuguese. */
function startWithSubtitles({
  tracks,
  files,
  text,
  stored = new Map(),
  traits,
  service,
}: EmbeddingOptions): Promise<Service> {
  const languages = [subtitle('de', true), subtitle('de'), subtitle('pt-BR')];
  const base = resourceOf(tracks, { durationSeconds: SECONDS, subtitles: languages, ...traits });
  const resource: Resource = {
    ...base,
    tracks: [...tracks, ...languages.map(({ formatId }) => subtitleTrack(formatId))],
  };
  const sourceOf = (formatId: string) => {
    if (formatId === 'captions:de') throw new Error('Automatic captions were read');
    const file = files.get(formatId);
    return file ? fileSource(file) : (text ?? fileSource(Buffer.from(CUES)));
  };
  return startService(
    resource,
    {},
    {
      openSource: async (_, { formatId }) => sourceOf(formatId),
      peekSource: async (_, { formatId }) => sourceOf(formatId),
      attachments: stored,
      ...service,
    },
  );
}

/** The cues of the text track as FFmpeg shows them. */
async function shownBy(file: string): Promise<readonly (readonly [string | undefined, string])[]> {
  // The times of the file: FFmpeg would shift them by the priming of the audio.
  await encode('-copyts', '-i', file, '-map', '0:s:0', '-f', 'srt', `${file}.srt`);
  const cues = (await readFile(`${file}.srt`, 'utf8')).replaceAll('\r', '').trim().split(/\n\n/);
  return cues.map((cue) => [cue.split('\n')[1], cue.split('\n').slice(2).join('\n')] as const);
}

/** The same for a body. */
const shownIn = (body: Buffer) =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, 'embedded.mp4');
    await writeFile(file, body);
    return shownBy(file);
  });

const PICTURE = ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${SECONDS}`];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-pix_fmt', 'yuv420p'];

describe.each(Object.entries(KINDS))('?subtitles= of a %s pair', (_kind, flags) => {
  const frozen = new Map<string, Buffer>();
  const files = new Map<string, Buffer>();
  let service: Service;
  let url: string;
  let whole: Buffer;

  const start = (text?: Source, stored?: Map<string, Buffer>) =>
    startWithSubtitles({ tracks: [videoTrack(), audioTrack()], files, text, stored });
  const pathOf = (query: string) => `/api/Stream/Media/${combinedKey()}?${query}`;

  beforeAll(async () => {
    const outputs = {
      'video.mp4': ['-an', ...H264, ...flags],
      'audio.m4a': ['-vn', '-c:a', 'aac', ...flags, '-f', 'mp4'],
    };
    const folder = await encodedSounds(SECONDS, outputs, PICTURE);
    files.set('video', await readFile(join(folder, 'video.mp4')));
    files.set('audio', await readFile(join(folder, 'audio.m4a')));
    service = await start(undefined, frozen);
    url = service.url + pathOf('subtitles=de');
    whole = (await expectSeekable(url)).body;
  }, 120_000);

  it('shows the subtitles in FFmpeg and mpv, beside the same audio and video', async () => {
    const { streams, complaints } = await inspect(whole, '.mp4');
    expect([streams.map(({ codec }) => codec), complaints]).toEqual([['h264', 'aac', 'mov_text'], '']);
    const plain = (await sendRequest(service.url + pathOf(''))).body;
    expect(await packetsIn(whole)).toEqual(await packetsIn(plain));
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'embedded.mp4');
      await writeFile(file, whole);
      expect(await shownBy(file)).toEqual(SHOWN);

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
    });
  });

  itPlaysInChromium(() => url, SECONDS);

  it('stays the same on another host and after the file has changed', async () => {
    const other = await start(fileSource(Buffer.from(CUES.replace('Second', 'Third'))), frozen);
    expect((await sendRequest(other.url + pathOf('subtitles=de'))).body.equals(whole)).toBe(true);
    const changed = await sendRequest(other.url + pathOf('subtitles=pt-BR'));
    expect(changed.status).toBe(200);
    expect(changed.body.includes('Third part')).toBe(true);
  });

  it('can have tags too', async () => {
    const { body } = await sendRequest(service.url + pathOf('subtitles=de&tags=true'));
    expect(body.length).toBe(whole.length + 65_536);
    const { codecs, tags, complaints } = await inspect(body, '.mp4');
    expect([codecs, tags.title, complaints]).toEqual([['h264', 'aac', 'mov_text'], 'A clip', '']);
  });

  it('has the subtitles of a clip, from its start on', async () => {
    const { body } = await expectSeekable(service.url + pathOf('subtitles=de&start=11.5&end=14'));
    expect(await shownIn(body)).toEqual([['00:00:00,500 --> 00:00:01,500', 'Second part']]);
    expect((await inspect(body, '.mp4')).complaints).toBe('');
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
  });
});

describe('?subtitles= of other renditions', () => {
  const files = new Map<string, Buffer>();
  /** More fragments than are read without an index. */
  const UNINDEXED = [
    '-movflags',
    'frag_keyframe+empty_moov+default_base_moof+skip_trailer',
    '-frag_duration',
    '400000',
  ];
  const tracks: readonly Track[] = [
    trackOf('file'),
    trackOf('fragmented-file'),
    trackOf('unindexed-file'),
    trackOf('webm-file', { container: 'webm', video: { codec: 'vp9' }, audio: null }),
    trackOf('mkv-file', { container: 'mkv' }),
    trackOf('sound', { video: null, container: 'm4a' }),
    trackOf('unindexed-video', { audio: null }),
    trackOf('unindexed-sound', { video: null, container: 'm4a' }),
    trackOf('webm-video', { container: 'webm', video: { codec: 'vp9' }, audio: null }),
  ];
  const pairs = [
    ['unindexed-video', 'unindexed-sound'],
    ['webm-video', 'sound'],
  ] as const;
  const renditions = [
    ...tracks.map(({ formatId }) => renditionOf([formatId])),
    ...pairs.map((formatIds) => renditionOf(formatIds)),
  ];
  const start = (options: Partial<EmbeddingOptions> = {}) =>
    startWithSubtitles({ tracks, files, ...options, traits: { renditions, ...options.traits } });
  let service: Service;
  const get = (key: string, query: string, endpoint = 'Media') =>
    sendRequest(`${service.url}/api/Stream/${endpoint}/${key}?${query}`);

  beforeAll(async () => {
    const aac = ['-c:a', 'aac'];
    const [keyframes, vp9] = [
      ['-g', '4'],
      ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-g', '20'],
    ];
    const outputs: Readonly<Record<string, readonly string[]>> = {
      'file.mp4': [...H264, ...aac],
      'unindexed-file.mp4': [...H264, ...keyframes, ...aac, ...UNINDEXED],
      'mkv-file.mkv': [...H264, ...aac],
      'sound.m4a': ['-vn', ...aac],
      'unindexed-sound.mp4': ['-vn', ...aac, ...UNINDEXED],
      'unindexed-video.mp4': ['-an', ...H264, ...keyframes, ...UNINDEXED],
      'webm-video.webm': ['-an', ...vp9],
      'cover.png': ['-an', '-frames:v', '1'],
    };
    const folder = await encodedSounds(SECONDS, outputs, PICTURE);
    for (const name of Object.keys(outputs))
      files.set(basename(name, extname(name)), await readFile(join(folder, name)));
    // A copy: how FFmpeg interleaves what it encodes depends on the load of the machine.
    const fragmented = await madeFile('fragmented-file.mp4', ['-i', 'file.mp4', '-c', 'copy', ...FRAGMENTED], folder);
    files.set('fragmented-file', await readFile(fragmented));
    files.set('webm-file', files.get('webm-video') ?? Buffer.alloc(0));
    service = await start();
  }, 120_000);

  it.each(['file', 'fragmented-file'])(
    'embeds them in a single %s with length, ranges, ETag and HEAD',
    async (name) => {
      const { body } = await expectSeekable(`${service.media(name)}?subtitles=de`);
      expect(await shownIn(body)).toEqual(SHOWN_TO_END);
      const { codecs, complaints, durationSeconds } = await inspect(body, '.mp4');
      expect([codecs, complaints, Math.round(durationSeconds)]).toEqual([['h264', 'aac', 'mov_text'], '', SECONDS]);

      const combined = await get(mediaKey(name), 'subtitles=de', 'Combined');
      expect(combined.body.equals(body)).toBe(true);
      expect(combined.headers['content-location']).toBe(`/api/Stream/Media/${mediaKey(name)}?subtitles=de`);
    },
  );

  it.each([
    ['a pair without an index', combinedKey(...pairs[0]), 'Media', ['h264', 'aac', 'mov_text']],
    ['a pair without an index', combinedKey(...pairs[0]), 'Combined', ['h264', 'aac', 'mov_text']],
    ['a pair with WebM', combinedKey(...pairs[1]), 'Media', ['vp9', 'aac', 'mov_text']],
    ['a file without an index', mediaKey('unindexed-file'), 'Media', ['h264', 'aac', 'mov_text']],
    ['a file of another container', mediaKey('mkv-file'), 'Combined', ['h264', 'aac', 'mov_text']],
  ])('embeds them in %s (%s, %s), from the beginning', async (_, key, endpoint, expected) => {
    const { status, headers, body } = await get(key, 'subtitles=de', endpoint);
    expect([status, headers['content-length'], headers['accept-ranges']]).toEqual([200, undefined, 'none']);
    expect(headers['content-type']).toBe('video/mp4');
    expect(await shownIn(body)).toEqual(SHOWN_TO_END);
    const { codecs, complaints, durationSeconds } = await inspect(body, '.mp4');
    expect([codecs, complaints, Math.round(durationSeconds)]).toEqual([expected, '', SECONDS]);
  });

  itInChromium('plays in Chromium what is muxed and what has a layout', async () => {
    for (const key of [combinedKey(...pairs[0]), combinedKey(...pairs[1]), mediaKey('file')]) {
      const url = `${service.url}/api/Stream/Media/${key}?subtitles=de`;
      const { duration } = await playUrl(url, []);
      expect(Math.round(duration), url).toBe(SECONDS);
    }
  });

  it.each([
    [
      'a WebM file',
      mediaKey('webm-file'),
      'Media',
      415,
      'A file that is sent as it is cannot hold subtitles. Use MP4.',
    ],
    ['an MKV file', mediaKey('mkv-file'), 'Media', 415, 'A file that is sent as it is cannot hold subtitles. Use MP4.'],
    ['audio', mediaKey('sound'), 'Media', 415, 'Audio cannot hold subtitles. Use MP4.'],
    ['audio', mediaKey('sound'), 'Combined', 415, 'Audio cannot hold subtitles. Use MP4.'],
  ])('answers for %s on %s %s with %d and a reason', async (_, key, endpoint, expected, detail) => {
    const { status, body } = await get(key, 'subtitles=de', endpoint);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([expected, detail]);
  });

  it.each<[string | readonly [string, string], query: string, endpoint?: 'Media' | 'Combined' | 'Hls']>([
    ['file', 'subtitles=de&tags=true&mark=sponsor'],
    ['file', 'skip=sponsor&tags=true'],
    ['file', 'format=mp3&mark=sponsor'],
    ['unindexed-file', 'subtitles=de&tags=true'],
    ['mkv-file', 'format=mp3&tags=true'],
    ['mkv-file', 'subtitles=de', 'Combined'],
    [pairs[1], 'subtitles=de&tags=true'],
    [['file', 'sound'], 'subtitles=de', 'Combined'],
    [['file', 'sound'], '', 'Hls'],
  ])('sends for %j?%s (%s) with the first HEAD what GET sends', async (name, query, endpoint = 'Media') => {
    const segments = await startSegmentsService(answerSegments(segmentOf(5, 7)));
    const chapters = [0, 10].map((startSeconds) => ({ startSeconds, title: `From ${startSeconds}` }));
    const { url } = await start({
      traits: {
        origin: { url: 'https://site.example/watch', extractor: 'Youtube', entryId: VIDEO_ID },
        coverUrl: 'https://site.example/cover.png',
        details: { chapters },
        renditions: [...renditions, renditionOf(['file', 'sound'])],
      },
      service: segments.options,
    });
    const key = typeof name === 'string' ? mediaKey(name) : combinedKey(...name);
    const address = `${url}/api/Stream/${endpoint}/${key}${endpoint === 'Hls' ? '/master.m3u8' : ''}?${query}`;
    const head = await sendRequest(address, { method: 'HEAD' });
    const { status, headers } = await sendRequest(address);
    expect(status).toBe(200);
    // Of the body, and of the moment.
    const { 'transfer-encoding': _, date, ...expected } = headers;
    expect(head.headers).toEqual({ ...expected, date: expect.any(String) });
  });

  it.each([mediaKey('file'), mediaKey('unindexed-file'), combinedKey(...pairs[0]), combinedKey(...pairs[1])])(
    'is 415 with a reason for more subtitles than a header holds: %s',
    async (key) => {
      const flooded = await start({ text: fileSource(Buffer.from(`WEBVTT\n\n${overlapping()}`)) });
      const { status, body } = await sendRequest(`${flooded.url}/api/Stream/Media/${key}?subtitles=de`);
      expect([status, JSON.parse(body.toString()).detail]).toEqual([415, 'The subtitles are too large to embed.']);
    },
  );
});
