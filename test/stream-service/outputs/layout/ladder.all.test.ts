import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Rendition, Track } from '../../../../core/state/resource.ts';
import { renditionOf as resolved } from '../../../contract/stream-helpers.ts';
import { useTarget } from '../../../contract/target.ts';
import { itInChromium } from '../../../support/chromium.ts';
import { itWith } from '../../../support/clients.ts';
import { runProgram, withTemporaryFolder } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { audioTrack, combinedKey, mediaKey, renditionOf, resourceOf, startService, trackOf } from '../../fixture.ts';
import { useFolderSite } from '../../folder-site.ts';
import { H264, transport } from '../../matrix/sources.ts';
import { readRanges, readTrack, tracksOf } from './hls-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';
import { runWithPlayer } from './player.ts';

const media = await usePairMedia();
const SECONDS = 8;
const HEIGHTS = [1080, 720, 360];
const LADDER = HEIGHTS.map((height) => `h264-${height}`);

const heightOf = (name: string): number => Number(/\d+$/.exec(name)?.[0]);
const labelOf = (name: string) => ({ height: heightOf(name), label: `${heightOf(name)}p` });
const single = (name: string): Rendition => ({ ...renditionOf([name]), ...labelOf(name) });
const pairOf = (name: string): Rendition => ({ ...renditionOf([name, 'audio']), ...labelOf(name) });

/** Serves the files of the origin that have the names of tracks, but for those that are down. */
async function serveFiles(tracks: readonly Track[], renditions: readonly Rendition[], failing: readonly string[]) {
  const down = () => Promise.reject(new Error('Down'));
  const sourceOf = async ({ formatId }: Track) => {
    const isDown = failing.includes(formatId);
    return [formatId, isDown ? down : await media.load(`ladder/${FILES[formatId] ?? `${formatId}.mp4`}`)] as const;
  };
  const sources = Object.fromEntries(await Promise.all(tracks.map(sourceOf)));
  const service = await startService(resourceOf(tracks, { renditions, durationSeconds: SECONDS }), sources);
  return (file: string, key: string) => `${service.url}/api/Stream/Hls/${key}/${file}`;
}
const FILES: Readonly<Record<string, string>> = { audio: 'aac-128.m4a', 'h264-240': 'h264-360.mp4' };

/** An item with video of three heights and one audio, and what a player must not change to. @returns addresses of its output */
async function startLadder(failing: readonly string[] = []) {
  const tracks = [
    ...[...LADDER, 'h264-240'].map((name) => trackOf(name, { audio: null })),
    trackOf('av1-180', { audio: null, video: { codec: 'av01.0.00M.08' } }),
    audioTrack(),
  ];
  const others = [pairOf('av1-180'), { ...pairOf('h264-240'), label: '240p HDR' }, single('h264-360')];
  const urlOf = await serveFiles(tracks, [...LADDER.map(pairOf), ...others], failing);
  return (file: string, key = combinedKey('h264-720')) => urlOf(file, key);
}

/** What the names of the files of another height begin with. */
const prefixOf = (height: number): string => `${pairOf(`h264-${height}`).id}.`;
const fetched = async (url: string) => {
  const { status, headers, body } = await sendRequest(url);
  return { status, type: headers['content-type'], text: body.toString() };
};
const statusOf = async (url: string) => (await fetched(url)).status;
const sizesOf = async (url: string) => (await tracksOf(url)).variants.map(({ RESOLUTION }) => RESOLUTION);

/** What FFmpeg says of an output. */
const ffprobe = async (url: string, entries: string) => {
  const args = ['-v', 'error', '-show_entries', `stream=${entries}`, '-of', 'csv=p=0', url];
  const { code, output } = await runProgram('ffprobe', args);
  expect(code).toBe(0);
  return output;
};
/** How many pictures' streams FFmpeg reads to their ends. */
const playedVideos = async (url: string) => {
  const args = ['-v', 'error', '-i', url, '-map', '0:v', '-map', '0:a', '-c', 'copy', '-f', 'streamhash', '-'];
  const { code, output } = await runProgram('ffmpeg', args);
  return [code, output.match(/^\d+,v,/gm)?.length];
};

describe('all heights of an item', () => {
  it('are variants of one master playlist, the requested one first, and one manifest of DASH', async () => {
    const urlOf = await startLadder();
    const { uris, urls } = await tracksOf(urlOf('all.m3u8'));
    expect(await sizesOf(urlOf('all.m3u8'))).toEqual(['1280x720', '1920x1080', '640x360']);
    const prefixes = ['', prefixOf(1080), prefixOf(360)];
    expect(uris).toEqual([...prefixes.map((prefix) => `${prefix}video.m3u8`), 'audio.m3u8']);
    for (const url of urls) await readTrack(url);

    const manifest = await fetched(urlOf('ALL.mpd'));
    expect(manifest).toMatchObject({ status: 200, type: 'application/dash+xml' });
    expect(manifest.text.match(/(?<= height=")\d+/g)).toEqual(['720', '1080', '360']);
    const files = [...prefixes.map((prefix) => `${prefix}video.mp4`), 'audio.mp4'];
    expect(manifest.text.match(/(?<=<BaseURL>)[^<?]+/g)).toEqual(files);
  });

  it.each<[string, () => Promise<(file: string) => string>, sizes: readonly string[], sounds: number]>([
    ['files without the first', () => startLadder(['h264-720']), ['1920x1080', '640x360'], 1],
    ['files without another', () => startLadder(['h264-1080']), ['1280x720', '640x360'], 1],
    ['lists of both without the first', () => startLists(false, ['both-h264-180']), ['160x90'], 0],
    ['lists of both without another', () => startLists(false, ['both-h264-90']), ['320x180'], 0],
    ['lists of each without the first', () => startLists(true, ['video-h264-180']), ['160x90'], 1],
    ['lists of each without another', () => startLists(true, ['video-h264-90']), ['320x180'], 1],
  ])('are those that can be read of %s', async (_, start, sizes, sounds) => {
    const urlOf = await start();
    expect(await sizesOf(urlOf('all.m3u8'))).toEqual(sizes);
    expect(await readTracks(urlOf('all.m3u8'))).toHaveLength(sizes.length + sounds);
    expect(await playedVideos(urlOf('all.mpd'))).toEqual([0, sizes.length]);
  });

  it.each<[string, () => Promise<(file: string) => string>]>([
    ['files', () => startLadder(LADDER)],
    [
      'lists',
      () =>
        startLists(
          false,
          Object.keys(STARTS).map((name) => `both-${name}`),
        ),
    ],
  ])('are refused as the first one is where no %s can be read', async (_, start) => {
    const urlOf = await start();
    const [all, one] = [await fetched(urlOf('all.m3u8')), await fetched(urlOf('master.m3u8'))];
    expect([all.status, all.text]).toEqual([one.status, one.text.replace('master', 'all')]);
  });

  it.each([undefined, 'both-720'])('have their own sound where files of both are split, without %s', async (broken) => {
    const names = ['both-720', 'both-360'];
    const tracks = names.map((name) => trackOf(name));
    const urlOf = await serveFiles(tracks, names.map(single), [broken ?? '']);
    const master = urlOf('all.m3u8', mediaKey('both-720'));
    const prefix = `${single('both-360').id}.`;
    expect((await tracksOf(master)).uris).toEqual([
      ...(broken ? [] : ['both.m3u8']),
      ...[`${prefix}both.m3u8`, `${broken ? prefix : ''}audio.m3u8`],
    ]);
    expect(new Set((await ffprobe(master, 'codec_type')).match(/video|audio/g))).toEqual(new Set(['video', 'audio']));
  });

  it('are one, where there is one of its kind', async () => {
    const urlOf = await startLadder();
    expect((await tracksOf(urlOf('all.m3u8', mediaKey('h264-360')))).uris).toEqual(['video.m3u8']);
  });

  it.each([
    ...['video-144p.m3u8', 'video-240p.m3u8', 'media-180p.mp4', 'audio-720p.m3u8', 'video@1.m3u8', 'all.m3u'],
    ...[
      'AAAAAAAAAAA.video.m3u8',
      `${prefixOf(360)}all.m3u8`,
      `${prefixOf(360)}other.m3u8`,
      'all@1.m3u8',
      'video@2.m3u8',
      'both@1e9.m3u8',
      'both@-1000.m3u8',
      'both@1.2.3.m3u8',
      'master@1.4.m3u8',
    ],
  ])('have no %s', async (name) => {
    const [files, lists] = [await startLadder(), await startLists(false)];
    expect([await statusOf(files(name)), await statusOf(lists(name))]).toEqual([404, 404]);
  });
});

describe('all heights of a list', () => {
  const target = useTarget();

  it.each(['/hls/master.m3u8', '/dash/number/manifest.mpd'])('of %s are variants, and play', async (link) => {
    const { key } = await resolved(target, link);
    const url = `${target.baseUrl}/api/Stream/Hls/${key}/all.m3u8`;
    expect(await sizesOf(url)).toEqual(['1280x720', '640x360']);
    expect(await playedVideos(url)).toEqual([0, 2]);
  });
});

/** Rungs that begin at different times, one of them too late to be on the same clock, in lists of both tracks and of video alone. */
const STARTS = { 'h264-180': 2, 'h264-90': 7, 'h264-72': 100 };
const RUNG_SECONDS = 12;
const TONE = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${RUNG_SECONDS}`, '-c:a', 'aac'];
const listed = (name: string, startSeconds: number, ...coded: readonly string[]) => [
  ...[...coded, '-output_ts_offset', String(startSeconds)],
  ...transport(name),
];
const site = useFolderSite([
  ...Object.entries(STARTS).flatMap(([name, startSeconds]) => {
    const size = `${(heightOf(name) * 16) / 9}x${heightOf(name)}`;
    const picture = ['-f', 'lavfi', '-i', `testsrc=s=${size}:r=25:d=${RUNG_SECONDS}`];
    return [
      listed(`both-${name}`, startSeconds, ...picture, ...TONE, ...H264, '-pix_fmt', 'yuv420p'),
      listed(`video-${name}`, startSeconds, ...picture, ...H264, '-pix_fmt', 'yuv420p'),
    ];
  }),
  listed('audio', 3, ...TONE),
]);

/** An item of lists of MPEG-TS. @param broken those that are gone @returns addresses of its output */
async function startLists(isPair: boolean, broken: readonly string[] = []) {
  for (const name of broken) site.handlers.set(`${name}.m3u8`, (_, response) => void response.writeHead(404).end());
  const names = Object.keys(STARTS);
  const tracks = [
    ...names.map((name) =>
      trackOf(name, isPair ? { ...site.listOf(`video-${name}`), audio: null } : site.listOf(`both-${name}`)),
    ),
    audioTrack(site.listOf('audio')),
  ];
  const renditions = names.map(isPair ? pairOf : single);
  const service = await site.serve(tracks, { renditions, durationSeconds: RUNG_SECONDS });
  const keyOf = isPair ? combinedKey : mediaKey;
  return (file: string, name = 'h264-180') => `${service.url}/api/Stream/Hls/${keyOf(name)}/${file}`;
}

/** The addresses, entity tags and first decode times of the tracks that a master playlist refers to, in seconds. */
const readTracks = async (master: string) =>
  Promise.all(
    (await tracksOf(master)).urls.map(async (each) => {
      const { url, etags, parts } = await readTrack(each);
      return { url, etags, seconds: await decodeTime(Buffer.concat(parts)) };
    }),
  );

/** When the first packet of a file is decoded, in seconds. */
const decodeTime = (file: Buffer): Promise<number> =>
  withTemporaryFolder(async (folder) => {
    const path = join(folder, 'part.mp4');
    await writeFile(path, file);
    const entries = ['-show_entries', 'packet=dts_time', '-select_streams', '0', '-of', 'csv=p=0'];
    return Number.parseFloat((await runProgram('ffprobe', ['-v', 'error', ...entries, path])).output);
  });

describe('heights that begin at different times', () => {
  it.each([
    ['h264-180', 'h264-90', false],
    ['h264-180', 'h264-90', true],
    ['h264-90', 'h264-180', false],
    ['h264-90', 'h264-180', true],
  ] as const)('have one clock: %s before %s, of two lists each: %s', async (first, second, isPair) => {
    const urlOf = await startLists(isPair);
    const master = urlOf('all.m3u8', first);
    const read = await readTracks(master);
    expect(read).toHaveLength(isPair ? 3 : 2);
    const [one, other, audio] = read.map(({ seconds }) => seconds);
    expect((other ?? 0) - (one ?? 0)).toBeCloseTo(STARTS[second] - STARTS[first], 1);
    if (isPair) expect((audio ?? 0) - (one ?? 0)).toBeCloseTo(3 - STARTS[first], 0);
    const manifest = (await fetched(urlOf('all.mpd', first))).text;
    // What has been read of one of them does not change the addresses of the others.
    expect(await readTracks(urlOf('master.m3u8', second))).toHaveLength(isPair ? 2 : 1);
    expect(await readTracks(master)).toEqual(read);
    expect((await fetched(urlOf('all.mpd', first))).text).toBe(manifest);

    const tracks = manifest.split('<Representation ').slice(1);
    expect(tracks).toHaveLength(read.length);
    for (const track of tracks) {
      const [uri = ''] = /(?<=<BaseURL>)[^<]+/.exec(track) ?? [];
      const file = new URL(uri.replaceAll('&amp;', '&'), master).href;
      const ranges = [...track.matchAll(/ (?:range|mediaRange)="([^"]+)"/g)].map(([, range = '']) => range);
      const { parts } = await readRanges(ranges.map((range) => [file, range]));
      const [, start] = /<S t="(\d+)"/.exec(track) ?? [];
      expect(Number(start) / 90_000).toBeCloseTo(await decodeTime(Buffer.concat(parts)), 2);
    }
    // FFmpeg confuses the sound of the second one with that of a first one that begins earlier.
    if (first === 'h264-180') return;
    const output = await ffprobe(urlOf('all.mpd', first), 'height,start_time');
    const [early, late] = [180, 90].map((height) => Number(new RegExp(`^${height},([\\d.]+)`, 'm').exec(output)?.[1]));
    expect((late ?? 0) - (early ?? 0)).toBeCloseTo(5, 1);
  });

  it('are read alone by their addresses', async () => {
    const [, second = ''] = (await tracksOf((await startLists(false))('all.m3u8'))).urls;
    const other = await startLists(false);
    site.requests.length = 0;
    const { pathname, search } = new URL(second);
    expect(await statusOf(new URL(pathname + search, other('')).href)).toBe(200);
    expect(site.asked.filter((path) => !path.startsWith('both-h264-90'))).toEqual([]);
  });

  it('are those whose lists are answered in time', async () => {
    const urlOf = await startLists(false);
    site.handlers.set('both-h264-90.m3u8', () => undefined);
    expect(await readTracks(urlOf('all.m3u8'))).toHaveLength(1);
    expect(site.asked).toContain('both-h264-90.m3u8');
  });
});

describe('a player chooses among them', () => {
  it('by all.m3u8: FFmpeg, in programs and by themselves', async () => {
    const output = await ffprobe((await startLadder())('all.m3u8'), 'height,codec_type');
    expect(new Set(output.match(/video,\d+/g))).toEqual(new Set(HEIGHTS.map((height) => `video,${height}`)));
  });

  itWith('mpv').each([
    ['all.m3u8', 'max', '1920x1080'],
    ['all.m3u8', 'min', '640x360'],
    ['all.mpd', 'max', '1920x1080'],
  ])('by %s: mpv, of bit rate %s', async (name, rate, size) => {
    const urlOf = await startLadder();
    const { output } = await runProgram('mpv', [
      ...['--no-config', '--vo=null', '--ao=null', '--length=0.5', `--hls-bitrate=${rate}`, urlOf(name)],
    ]);
    expect(output).toContain(`VO: [null] ${size}`);
  });

  /** Plays from the beginning, and from a position after the player was told to take another height. */
  const PLAY = `async (changeHeight) => {
    await video.play();
    await until(() => video.currentTime > 0.3);
    const before = video.videoHeight;
    changeHeight();
    video.currentTime = 5;
    await until(() => !video.seeking && video.currentTime > 5.2 && video.videoHeight !== before);
    return { before, after: video.videoHeight, seconds: Math.round(video.duration) };
  }`;

  itInChromium.each([
    [
      'hls.js',
      'hls.js/dist/hls.min.js',
      'all.m3u8',
      `const hls = new Hls({ enableWorker: false, startLevel: 0, capLevelToPlayerSize: false });
       hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details)));
       hls.on(Hls.Events.MANIFEST_PARSED, () => {
         const lowest = hls.levels.findIndex(({ height }) => height === 360);
         const highest = hls.levels.findIndex(({ height }) => height === 1080);
         hls.currentLevel = lowest;
         ready(() => { hls.currentLevel = highest; });
       });
       hls.loadSource(url);
       hls.attachMedia(video);`,
    ],
    ...(['all.mpd', 'all.m3u8'] as const).map(
      (name) =>
        [
          'Shaka Player',
          'shaka-player/dist/shaka-player.compiled.js',
          name,
          `const player = new shaka.Player();
           player.addEventListener('error', ({ detail }) => fail(new Error('Shaka ' + detail.code)));
           const select = (height) => {
             const track = player.getVariantTracks().find((each) => each.height === height);
             player.selectVariantTrack(track, true);
           };
           player.attach(video).then(async () => {
             player.configure({ abr: { enabled: false } });
             await player.load(url);
             select(360);
             ready(() => select(1080));
           }).catch(fail);`,
        ] as const,
    ),
    [
      'dash.js',
      'dashjs/dist/modern/umd/dash.all.min.js',
      'all.mpd',
      `const player = dashjs.MediaPlayer().create();
       player.updateSettings({ streaming: { abr: { autoSwitchBitrate: { video: false } }, buffer: { fastSwitchEnabled: true } } });
       player.on('error', ({ error }) => fail(new Error(error.message)));
       const select = (height) => {
         const at = player.getRepresentationsByType('video').findIndex((each) => each.height === height);
         player.setRepresentationForTypeByIndex('video', at, true);
       };
       player.on('streamInitialized', () => { select(360); ready(() => select(1080)); });
       player.initialize(video, url, false);`,
    ],
  ] as const)('by %s (%s, %s)', async (_, library, name, start) => {
    const url = (await startLadder())(name, combinedKey('h264-360'));
    const played = await runWithPlayer(
      library,
      `const url = '${url}';
      const ready = (changeHeight) => (${PLAY})(changeHeight).then(done, fail);
      ${start}`,
    );
    expect(played).toEqual({ before: 360, after: 1080, seconds: SECONDS });
  });
});
