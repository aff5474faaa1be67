import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packDashSegments } from '@reelay/seekable-media/dash';
import { expect } from 'vitest';
import { archiveKey, keyOf, resourceId, subtitleId } from '../../../core/state/keys.ts';
import type { ArchivedList, Resource, Track } from '../../../core/state/resource.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { fragmentedHls, madeBy } from '../../origin/media.ts';
import { sendRequest } from '../../support/request.ts';
import { audioTrack, renditionOf, resourceOf, startService, tableOf, trackOf, videoTrack } from '../fixture.ts';
import { encryptAes128, startUpstream } from '../source/upstream.ts';

const SECONDS = 20;
const INDEXED = ['-movflags', 'frag_keyframe+empty_moov+delay_moov+dash+global_sidx'];
const CUES = ['-cues_to_front', '1'];

/** Frames of AC-3, of MP3 at a constant rate and of Opus without VBR have one size: twins differ in the tone, and in nothing else. */
const recipesOf = (hertz: number): readonly (readonly string[])[] => {
  const picture = ['-f', 'lavfi', '-i', `testsrc2=s=160x90:r=25:d=${SECONDS}`];
  const tone = ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${SECONDS}`];
  const x264 = ['-c:v', 'libx264', '-threads', '1', '-preset', 'ultrafast', '-g', '50', '-bf', '2'];
  const vp9 = [
    '-c:v',
    'libvpx-vp9',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-row-mt',
    '0',
    '-threads',
    '1',
    '-g',
    '50',
  ];
  const opus = ['-c:a', 'libopus', '-b:a', '64k', '-vbr', 'off'];
  const copy = (from: string, ...rest: readonly string[]) => ['-i', from, '-c', 'copy', ...rest];
  const vod = ['-hls_playlist_type', 'vod'];
  const packed = (format: string) => ['-f', 'segment', '-segment_format', format, '-segment_time', '4'];
  return [
    [...picture, ...tone, ...x264, '-c:a', 'ac3', '-b:a', '96k', '-movflags', '+faststart', 'both.mp4'],
    [...picture, ...tone, ...vp9, ...opus, ...CUES, 'both.webm'],
    [...tone, '-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0', 'sound.mp3'],
    copy('both.mp4', '-map', '0:v', '-movflags', '+faststart', 'v.mp4'),
    copy('both.mp4', '-map', '0:a', '-movflags', '+faststart', 'a.mp4'),
    copy('both.mp4', '-map', '0:v', ...INDEXED, 'fv.mp4'),
    copy('both.mp4', '-map', '0:a', '-frag_duration', '4000000', ...INDEXED, 'fa.mp4'),
    copy('both.webm', '-map', '0:v', ...CUES, 'v.webm'),
    copy('both.webm', '-map', '0:a', ...CUES, 'a.webm'),
    copy(
      'both.mp4',
      '-f',
      'hls',
      '-hls_time',
      '4',
      '-hls_list_size',
      '0',
      ...vod,
      '-hls_segment_filename',
      'ts%d.ts',
      'ts.m3u8',
    ),
    copy('both.mp4', ...vod, ...fragmentedHls('fmp4-', 4)),
    copy('both.mp4', '-map', '0:v', ...vod, ...fragmentedHls('lv-', 4)),
    copy('both.mp4', '-map', '0:a', ...vod, ...fragmentedHls('la-', 4)),
    copy('both.mp4', '-map', '0:a', ...packed('ac3'), '-segment_list', 'ac3.m3u8', 'ac3-%d.ac3'),
    copy('sound.mp3', ...packed('mp3'), '-segment_list', 'mp3.m3u8', 'mp3-%d.mp3'),
  ];
};
const LIMITS = { maxStreams: 100, maxStreamsPerClient: 100, maxFfmpeg: 20 };
const HERTZ = [400, 900] as const;
const folders = await Promise.all(HERTZ.map((hertz) => madeBy(recipesOf(hertz))));

/** The files of a twin: those of its folder, and what is made of them. */
function fileOf(twin: number, name: string): Buffer {
  const read = (path: string) => readFileSync(join(folders[twin] ?? '', path));
  const lines = () => read('ts.m3u8').toString().split('\n');
  const segments = () => lines().filter((line) => line.endsWith('.ts'));
  if (name === 'key') return Buffer.alloc(16, twin + 1);
  if (name.startsWith('secret-')) return encryptAes128(read(name.slice(7)), Buffer.alloc(16, twin + 1));
  const list = (change: (line: string) => string) => Buffer.from(lines().map(change).join('\n'));
  if (name === 'secret.m3u8')
    return list((line) =>
      line
        .replace(/^ts\d/, 'secret-$&')
        .replace(/^#EXT-X-MEDIA.*/, `$&\n#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x${'0'.repeat(32)}`),
    );
  if (name === 'all.ts') return Buffer.concat(segments().map(read));
  if (name === 'ranges.m3u8') {
    let end = 0;
    return list((line) => {
      if (!line.endsWith('.ts')) return line;
      const { length } = read(line);
      end += length;
      return `#EXT-X-BYTERANGE:${length}@${end - length}\nall.ts`;
    });
  }
  if (name === 'live.m3u8') return list((line) => line.replace(/^#EXT-X-(ENDLIST|PLAYLIST-TYPE).*/, ''));
  if (name === 'cover.jpg') return Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.alloc(500, twin)]);
  if (name === 'text.vtt') return Buffer.from(`WEBVTT\n\n00:01.000 --> 00:03.000\nTwin ${twin}\n`);
  return read(name);
}

type Sides = readonly [video: Partial<Track> | undefined, audio?: Partial<Track>];
const file = (url: string, more: Partial<Track> = {}): Partial<Track> => ({
  url,
  container: url.split('.')[1] ?? '',
  ...more,
});
const list = (name: string, more: Partial<Track> = {}): Partial<Track> => ({
  delivery: 'hls',
  url: `${name}.m3u8`,
  ...more,
});
const AC3 = { audio: { codec: 'ac-3' } };
const OPUS = { audio: { codec: 'opus' } };
const VP9 = { video: { codec: 'vp9' } };
const dash = (name: string): Partial<Track> => {
  const count = readdirSync(folders[0] ?? '').filter(
    (path) => path.startsWith(`${name}-`) && path.endsWith('.m4s'),
  ).length;
  const urls = Array.from({ length: count }, (_, index) => ({ url: `${name}-${index}.m4s`, seconds: 4 }));
  return {
    delivery: 'dash',
    url: `${name}.mpd`,
    fragments: packDashSegments([{ url: `${name}-.mp4`, seconds: 0 }, ...urls]),
  };
};

/** Kinds of sources: URLs are names of files. */
export const KINDS = {
  'an MP4': [file('both.mp4', AC3)],
  'an MP3': [undefined, file('sound.mp3')],
  'a pair': [file('v.mp4'), file('a.mp4', AC3)],
  'a fragmented pair': [file('fv.mp4'), file('fa.mp4', AC3)],
  'HLS of TS': [list('ts')],
  'HLS of TS by ranges': [list('ranges')],
  'HLS of TS with keys': [list('secret')],
  'HLS of MP4': [list('fmp4-')],
  'two lists of MP4': [list('lv-'), list('la-')],
  DASH: [dash('lv'), dash('la')],
  'packed AC-3': [undefined, list('ac3')],
  'packed MP3': [undefined, list('mp3')],
  'a WebM': [file('both.webm', { ...VP9, ...OPUS })],
  'a pair of WebM': [file('v.webm', VP9), file('a.webm', OPUS)],
  'a live list': [list('live')],
} satisfies Readonly<Record<string, Sides>>;
export type Kind = keyof typeof KINDS;

/** What is asked for, of a key of a rendition. */
export const OUTPUTS = [
  ...['Media/KEY', 'Combined/KEY', 'Media/KEY?start=5&end=9', 'Media/KEY?tags=true', 'Media/KEY?subtitles=en'],
  ...['m4a', 'mp3', 'wav', 'opus'].map((format) => `Media/KEY?format=${format}`),
  ...[
    'Hls/KEY/master.m3u8',
    ...['video', 'audio', 'both'].map((name) => `Hls/KEY/${name}.mp4`),
    'Cover/KEY',
    'Subtitle/SUBTITLE',
    'Archive/ARCHIVE',
  ],
];
export const LIVE_OUTPUTS = ['', '&format=mp3', '&format=m4a', '&tags=true'].map(
  (more) => `Media/KEY?segments=0-2${more}`,
);

interface TwinOptions {
  /** Where the files of each are: at one place they are versions of one source. @default beside each other */
  readonly isOnePlace?: boolean;
  /** Of all files; `null`: neither that nor Last-Modified. @default one for all */
  readonly etagOf?: (twin: number) => string | null;
}

/** Two sources of one kind that agree in all but their bytes. */
export async function openTwins(kind: Kind, { isOnePlace = false, etagOf = () => '"same"' }: TwinOptions = {}) {
  const upstream = await startUpstream();
  /** The version that is served where there is one place. */
  let version = 0;
  let requests = 0;
  upstream.use((request, response) => {
    requests += 1;
    const [, place, name = ''] = (request.url ?? '').split('/');
    const twin = isOnePlace ? version : Number(place);
    createFaultHandler({ bytes: fileOf(twin, name), etag: etagOf(twin) })(request, response);
  });
  const isLive = kind === 'a live list';
  const [video, audio]: Sides = KINDS[kind];
  const resources = new Map<string, Resource>();
  const lists = new Map<string, ArchivedList>();
  const keys = (isOnePlace ? [0] : [0, 1]).map((twin) => {
    const urlOf = (name: string) => `${upstream.origin}/${twin}/${name}`;
    const at = ({ url = '', fragments, ...traits }: Partial<Track>): Partial<Track> => ({
      ...traits,
      url: urlOf(url),
      ...(fragments && { fragments, fragmentBaseUrl: urlOf('') }),
    });
    const sides = [
      ...(video ? [audio ? videoTrack(at(video)) : trackOf('video', at(video))] : []),
      ...(audio ? [audioTrack(at(audio))] : []),
    ];
    const text = trackOf('text', at({ url: 'text.vtt', container: 'vtt', video: null, audio: null }));
    const origin = { url: `https://site.example/${twin}`, extractor: 'Test', entryId: String(twin) };
    const rendition = renditionOf(sides.map(({ formatId }) => formatId) as [string]);
    const subtitle = {
      id: subtitleId({ language: 'en', isAutomatic: false }),
      formatId: 'text',
      language: 'en',
      isAutomatic: false,
    };
    const resource = resourceOf([...sides, text], {
      id: resourceId(origin),
      origin,
      coverUrl: urlOf('cover.jpg'),
      durationSeconds: SECONDS,
      isLive,
      renditions: [rendition],
      subtitles: [subtitle],
    });
    resources.set(resource.id, resource);
    const archive = archiveKey(origin.url);
    const entry = { url: origin.url, title: 'An entry', author: null, coverUrl: null, resourceId: resource.id };
    lists.set(archive, {
      id: archive,
      url: origin.url,
      title: 'A list',
      author: null,
      expiresAt: 2e9,
      entries: [entry],
    });
    const key = keyOf(resource.id, rendition.id);
    return { KEY: key, SUBTITLE: keyOf(resource.id, subtitle.id), ARCHIVE: archive };
  });

  return {
    get requests() {
      return requests;
    },
    /** Serves the other version from now on. */
    change() {
      version = 1 - version;
    },
    /** @param attachments what the table has stored. @default nothing */
    async start(attachments = new Map<string, Buffer>()) {
      const { openSource, ...openers } = upstream.openers({
        refresh: async (resource) => resource,
        state: tableOf(attachments),
      });
      const service = await startService(
        (id) => resources.get(id),
        { video: openSource, audio: openSource, text: openSource, cover: openSource },
        {
          ...openers,
          peekSource: openSource,
          attachments,
          limits: LIMITS,
          state: { getArchivedList: async (key) => lists.get(key) },
        },
      );
      return {
        close: service.close,
        /** @param who one of the twins, whose client has an access key of its own */
        async get(who: number, path: string, headers: { readonly range?: string; readonly 'if-range'?: string } = {}) {
          const { KEY = '', SUBTITLE = '', ARCHIVE = '' } = keys[isOnePlace ? 0 : who] ?? {};
          const url = path.replace('KEY', KEY).replace('SUBTITLE', SUBTITLE).replace('ARCHIVE', ARCHIVE);
          const sent = { 'x-reelay-access': `key ${who}`, ...headers };
          const response = await sendRequest(`${service.url}/api/Stream/${url}`, { headers: sent }).catch(
            () => undefined,
          );
          const body = response?.body ?? Buffer.alloc(0);
          return { status: response?.status ?? 'broken off', etag: response?.headers.etag, body };
        },
      };
    },
  };
}

/**
 * Expects that each client gets its own of two sources: in both orders, at once, and after a restart.
 * @param least of the outputs, both sources have
 */
export async function expectOwn(kind: Kind, outputs: readonly string[], least: number): Promise<void> {
  const twins = await openTwins(kind);
  const alone = await Promise.all(
    [0, 1].map(async (who) => {
      const { get } = await twins.start();
      const answers = [];
      for (const path of outputs) answers.push(await get(who, path));
      return answers;
    }),
  );
  const made = outputs.filter((_, index) => alone.every((each) => each[index]?.status === 200));
  expect(made.length).toBeGreaterThanOrEqual(least);
  const expectSame = async (
    service: Awaited<ReturnType<typeof twins.start>>,
    clients: readonly number[],
    path: string,
  ) => {
    const answers = await Promise.all(clients.map((who) => service.get(who, path)));
    const own = clients.map((who) => alone[who]?.[outputs.indexOf(path)]);
    expect(
      answers.map(({ etag, body }, index) => [
        path,
        clients[index],
        etag,
        body.equals(own[index]?.body ?? Buffer.alloc(0)),
      ]),
    ).toEqual(own.map((each, index) => [path, clients[index], each?.etag, true]));
  };
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const attachments = new Map<string, Buffer>();
    const first = await twins.start(attachments);
    for (const path of made) for (const who of order) await expectSame(first, [who], path);
    const restarted = await twins.start(attachments);
    for (const path of made) for (const who of order.toReversed()) await expectSame(restarted, [who], path);
  }
  const atOnce = await twins.start();
  for (const path of made) await expectSame(atOnce, [0, 1, 0, 1], path);
  // Playlists name their media by paths that are the same, and the pictures alone are the same: an MP4 has its sound beside them.
  const isSameInBoth = kind === 'an MP4' ? /\.m3u8$|both\.mp4$/ : /\.m3u8$|video\.mp4$/;
  for (const path of made.filter((each) => !isSameInBoth.test(each))) {
    const [a, b] = alone.map((each) => each[outputs.indexOf(path)]);
    const isSame = a?.body.equals(b?.body ?? Buffer.alloc(0));
    expect([path, isSame, a?.body.length]).toEqual([path, false, b?.body.length]);
    if (a?.etag) expect([path, a.etag]).not.toEqual([path, b?.etag]);
  }
}

/**
 * Expects that no answer joins bytes of two versions of a source, of which the second one replaces the first after half of it was read.
 * @param etagOf as the source names them
 */
export async function expectUnmixed(kind: Kind, path: string, etagOf: (twin: number) => string | null): Promise<void> {
  const twins = await openTwins(kind, { isOnePlace: true, etagOf });
  const first = await (await twins.start()).get(0, path);
  twins.change();
  const second = await (await twins.start()).get(0, path);
  expect([first.status, second.status, first.body.equals(second.body)]).toEqual([200, 200, false]);
  const isTold = etagOf(0) !== etagOf(1);
  for (const isRestarted of [false, true]) {
    twins.change();
    const attachments = new Map<string, Buffer>();
    let service = await twins.start(attachments);
    const half = Math.floor(first.body.length / 2);
    const before = await service.get(0, path, { range: `bytes=0-${half - 1}` });
    expect(before.body.equals(first.body.subarray(0, before.body.length))).toBe(true);
    twins.change();
    if (isRestarted) service = await twins.start(attachments);
    const answers = [];
    for (const headers of [{ range: `bytes=${half}-`, 'if-range': before.etag ?? '"none"' }, {}, {}, {}]) {
      const { status, etag, body } = await service.get(0, path, headers);
      const isOf = ({ body: whole }: typeof first) => body.equals(status === 206 ? whole.subarray(half) : whole);
      const of = isOf(first) ? 'first' : isOf(second) ? 'second' : 'mixed';
      answers.push(
        status === 200 || status === 206
          ? `${of}${etag === undefined || etag !== before.etag ? '' : ', under the first ETag'}`
          : 'failed',
      );
    }
    const wrong = ['mixed', 'mixed, under the first ETag', ...(isTold ? ['second, under the first ETag'] : [])];
    expect(
      answers.filter((answer) => wrong.includes(answer)),
      `${path}: ${answers.join(' · ')}`,
    ).toEqual([]);
    // All of the first one may be in memory.
    if (isTold) expect(['first, under the first ETag', 'second'], answers.join(' · ')).toContain(answers.at(-1));
  }
}
