import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Rendition } from '../../../../core/state/resource.ts';
import { renditionOf as resolved } from '../../../contract/stream-helpers.ts';
import { useTarget } from '../../../contract/target.ts';
import { createFaultHandler } from '../../../origin/faults.ts';
import { madeBy } from '../../../origin/media.ts';
import { itInChromium } from '../../../support/chromium.ts';
import { itWith } from '../../../support/clients.ts';
import { checkPlaylist } from '../../../support/hls-checker.ts';
import { runProgram, withTemporaryFolder } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { audioTrack, combinedKey, mediaKey, renditionOf, resourceOf, startService, trackOf } from '../../fixture.ts';
import { startUpstream } from '../../source/upstream.ts';
import { usePairMedia } from './pair-fixture.ts';
import { playerBrowser } from './player.ts';

const media = await usePairMedia();
const SECONDS = 8;
const HEIGHTS = [1080, 720, 360];

const heightOf = (name: string): number => Number(/\d+$/.exec(name)?.[0]);
const pairOf = (name: string, traits: Partial<Rendition> = {}): Rendition => ({
  ...renditionOf([name, 'audio']),
  height: heightOf(name),
  label: `${heightOf(name)}p`,
  ...traits,
});

/** An item with video of three heights and one audio, and what a player must not change to. */
async function startLadder(failing: readonly string[] = []) {
  const names = HEIGHTS.map((height) => `h264-${height}`);
  const others = [{ name: 'av1-180', codec: 'av01.0.00M.08' }, { name: 'h264-240' }];
  const tracks = [
    ...names.map((name) => trackOf(name, { audio: null })),
    ...others.map(({ name, codec = 'avc1.42c01f' }) => trackOf(name, { audio: null, video: { codec } })),
    audioTrack(),
  ];
  const renditions = [
    ...names.map((name) => pairOf(name)),
    pairOf('av1-180'),
    pairOf('h264-240', { label: '240p HDR' }),
    { ...renditionOf(['h264-360']), height: 360 },
  ];
  const sources = await Promise.all(
    names.map(async (name) => [
      name,
      failing.includes(name) ? () => Promise.reject(new Error('Down')) : await media.load(`ladder/${name}.mp4`),
    ]),
  );
  const audio = await media.load('ladder/aac-128.m4a');
  const found = { ...Object.fromEntries(sources), audio };
  const service = await startService(resourceOf(tracks, { renditions, durationSeconds: SECONDS }), found);
  return (key = combinedKey('h264-720')) => `${service.url}/api/Stream/Hls/${key}/`;
}

/** The playlist of another height. */
const videoOf = (height: number): string => `../${combinedKey(`h264-${height}`)}/video.m3u8`;

const text = async (url: string) => {
  const { status, headers, body } = await sendRequest(url);
  return { status, type: headers['content-type'], text: body.toString() };
};

describe('all heights of an item', () => {
  it('are variants of one master playlist, the requested one first', async () => {
    const baseOf = await startLadder();
    const master = await text(`${baseOf()}all.m3u8`);
    expect(master).toMatchObject({ status: 200, type: 'application/vnd.apple.mpegurl' });
    const { variants, media: audio } = checkPlaylist(master.text);
    expect(variants.map(({ RESOLUTION }) => RESOLUTION)).toEqual(['1280x720', '1920x1080', '640x360']);
    expect(variants.map(({ uri }) => uri)).toEqual(['video.m3u8', videoOf(1080), videoOf(360)]);
    expect(audio.map(({ URI }) => URI)).toEqual(['"audio.m3u8"']);
    for (const { uri } of variants) {
      const url = new URL(uri, baseOf()).href;
      const { map, segments } = checkPlaylist((await text(url)).text);
      for (const { uri: file, range } of [map, ...segments].flatMap((each) => each ?? [])) {
        const { first, bytes } = range;
        const part = await sendRequest(new URL(file, url).href, {
          headers: { range: `bytes=${first}-${first + bytes - 1}` },
        });
        expect([part.status, part.body.length]).toEqual([206, bytes]);
      }
    }
  });

  it('are one manifest of DASH', async () => {
    const baseOf = await startLadder();
    const manifest = await text(`${baseOf()}ALL.mpd`);
    expect(manifest).toMatchObject({ status: 200, type: 'application/dash+xml' });
    const heights = [...manifest.text.matchAll(/ height="(\d+)"/g)].map(([, height]) => Number(height));
    expect(heights).toEqual([720, 1080, 360]);
    const files = [...manifest.text.matchAll(/<BaseURL>([^<]+)</g)].map(([, file = '']) => file);
    expect(files.map((file) => file.replace(/\?.*/, ''))).toEqual([
      'video.mp4',
      `../${combinedKey('h264-1080')}/video.mp4`,
      `../${combinedKey('h264-360')}/video.mp4`,
      'audio.mp4',
    ]);
  });

  it('are those that can be read', async () => {
    const baseOf = await startLadder(['h264-1080']);
    const { variants } = checkPlaylist((await text(`${baseOf()}all.m3u8`)).text);
    expect(variants.map(({ uri }) => uri)).toEqual(['video.m3u8', videoOf(360)]);
  });

  it('begin with another where the requested one cannot be read', async () => {
    const baseOf = await startLadder(['h264-720']);
    const master = `${baseOf()}all.m3u8`;
    const { variants, media: audio } = checkPlaylist((await text(master)).text);
    expect(variants.map(({ RESOLUTION }) => RESOLUTION)).toEqual(['1920x1080', '640x360']);
    for (const uri of [...variants.map((each) => each.uri), ...audio.map(({ URI = '' }) => URI.slice(1, -1))])
      expect([uri, (await text(new URL(uri, master).href)).status]).toEqual([uri, 200]);
    const { code, output } = await runProgram('ffmpeg', [
      '-v',
      'error',
      '-i',
      `${baseOf()}all.mpd`,
      '-c',
      'copy',
      '-f',
      'null',
      '-',
    ]);
    expect([code, output]).toEqual([0, '']);
    const broken = await startLadder(HEIGHTS.map((height) => `h264-${height}`));
    expect((await text(`${broken()}all.m3u8`)).status).toBe((await text(`${broken()}master.m3u8`)).status);
  });

  it('have their own sound where files of both are split, also where the requested one cannot be read', async () => {
    const names = ['both-720', 'both-360'];
    const tracks = names.map((name) =>
      trackOf(name, { video: { codec: 'avc1.42c01f' }, audio: { codec: 'mp4a.40.2' } }),
    );
    const renditions = names.map((name) => ({ ...renditionOf([name]), height: heightOf(name) }));
    for (const broken of [undefined, 'both-720']) {
      const sources = await Promise.all(
        names.map(async (name) => {
          const file = await media.load(`ladder/${name}.mp4`);
          return [name, name === broken ? () => Promise.reject(new Error('Down')) : file] as const;
        }),
      );
      const resource = resourceOf(tracks, { renditions, durationSeconds: SECONDS });
      const service = await startService(resource, Object.fromEntries(sources));
      const master = `${service.url}/api/Stream/Hls/${mediaKey('both-720')}/all.m3u8`;
      const { variants, media: audio } = checkPlaylist((await text(master)).text);
      const folder = `../${mediaKey('both-360')}/`;
      expect(variants.map(({ uri }) => uri)).toEqual([...(broken ? [] : ['both.m3u8']), `${folder}both.m3u8`]);
      expect(audio.map(({ URI }) => URI)).toEqual([`"${broken ? folder : ''}audio.m3u8"`]);
      const { code, output } = await runProgram('ffprobe', [
        ...['-v', 'error', '-show_entries', 'stream=codec_type', '-of', 'csv=p=0', master],
      ]);
      expect([code, new Set(output.match(/video|audio/g))]).toEqual([0, new Set(['video', 'audio'])]);
    }
  });

  it('are one, where there is one of its kind', async () => {
    const baseOf = await startLadder();
    const { variants } = checkPlaylist((await text(`${baseOf(mediaKey('h264-360'))}all.m3u8`)).text);
    expect(variants.map(({ uri }) => uri)).toEqual(['video.m3u8']);
  });

  it.each([
    'video-144p.m3u8',
    'video-240p.m3u8',
    'media-180p.mp4',
    'audio-720p.m3u8',
    'video@1.m3u8',
    'all.m3u',
    'all@1.m3u8',
  ])('have no %s', async (name) => {
    const baseOf = await startLadder();
    expect((await text(baseOf() + name)).status).toBe(404);
  });
});

describe('all heights of a list', () => {
  const target = useTarget();

  it.each([
    ['/hls/master.m3u8', ['1280x720', '640x360']],
    ['/dash/number/manifest.mpd', ['1280x720', '640x360']],
  ])('of %s are variants, and play', async (link, sizes) => {
    const { key } = await resolved(target, link);
    const url = `${target.baseUrl}/api/Stream/Hls/${key}/all.m3u8`;
    const { variants } = checkPlaylist((await text(url)).text);
    expect(variants.map(({ RESOLUTION }) => RESOLUTION)).toEqual(sizes);
    const digests = ['-map', '0:v', '-map', '0:a', '-c', 'copy', '-f', 'streamhash', '-'];
    const { code, output } = await runProgram('ffmpeg', ['-v', 'error', '-i', url, ...digests]);
    expect([code, output.match(/^\d+,v,/gm)?.length]).toEqual([0, sizes.length]);
  });
});

/** Rungs that begin at different times, one of them too late to be on the same clock, in lists of both tracks and of video alone. */
const STARTS = { 'h264-180': 2, 'h264-90': 7, 'h264-72': 100 };
const RUNG_SECONDS = 12;
const TONE = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${RUNG_SECONDS}`];
const AAC = ['-c:a', 'aac'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50', '-bf', '2', '-pix_fmt', 'yuv420p'];
const listed = (name: string, startSeconds: number, ...coded: string[]): readonly string[] => [
  ...[...coded, '-output_ts_offset', String(startSeconds), '-f', 'hls', '-hls_time', '4', '-hls_list_size', '0'],
  ...['-hls_playlist_type', 'vod', '-hls_segment_filename', `${name}-%d.ts`, `${name}.m3u8`],
];
const pictureOf = (name: string) => [
  ...['-f', 'lavfi', '-i', `testsrc=s=${(heightOf(name) * 16) / 9}x${heightOf(name)}:r=25:d=${RUNG_SECONDS}`],
];

/**
 * An item of lists of MPEG-TS.
 * @param broken paths that are gone
 * @param hanging one that is never answered
 */
async function startLists(isPair: boolean, broken: readonly string[] = [], hanging?: string) {
  const names = Object.keys(STARTS);
  const folder = await madeBy([
    ...Object.entries(STARTS).flatMap(([name, startSeconds]) => [
      listed(`both-${name}`, startSeconds, ...pictureOf(name), ...TONE, ...H264, ...AAC),
      listed(`video-${name}`, startSeconds, ...pictureOf(name), ...H264),
    ]),
    listed('audio', 3, ...TONE, ...AAC),
  ]);
  const upstream = await startUpstream();
  const asked: string[] = [];
  upstream.use((request, response) => {
    const path = (request.url ?? '').slice(1);
    asked.push(path);
    if (path === hanging) return;
    if (broken.includes(path)) response.writeHead(404).end();
    else createFaultHandler({ bytes: readFileSync(join(folder, path)) })(request, response);
  });
  const listOf = (path: string) => ({ delivery: 'hls' as const, url: `${upstream.origin}/${path}.m3u8` });
  const side = isPair ? 'video' : 'both';
  const tracks = [
    ...names.map((name) => trackOf(name, { ...listOf(`${side}-${name}`), ...(isPair && { audio: null }) })),
    audioTrack(listOf('audio')),
  ];
  const renditions = names.map((name) =>
    isPair ? pairOf(name) : { ...renditionOf([name]), height: heightOf(name), label: `${heightOf(name)}p` },
  );
  const { openSource, ...openers } = upstream.openers({ refresh: async (resource) => resource });
  const sources = Object.fromEntries(tracks.map(({ formatId }) => [formatId, openSource]));
  const resource = resourceOf(tracks, { renditions, durationSeconds: RUNG_SECONDS });
  const service = await startService(resource, sources, openers);
  const keyOf = isPair ? combinedKey : mediaKey;
  return { asked, urlOf: (name: string, file: string) => `${service.url}/api/Stream/Hls/${keyOf(name)}/${file}` };
}

/** The addresses and first decode times of the tracks that a master playlist refers to, in seconds. */
async function readTracks(master: string) {
  const { variants, media: audio } = checkPlaylist((await text(master)).text);
  const uris = [...variants.map(({ uri }) => uri), ...audio.map(({ URI = '' }) => URI.slice(1, -1))];
  return Promise.all(
    uris.map(async (uri) => {
      const url = new URL(uri, master).href;
      const playlist = await text(url);
      expect([uri, playlist.status]).toEqual([uri, 200]);
      const { map, segments } = checkPlaylist(playlist.text);
      const parts = [map, ...segments].flatMap((each) => each ?? []);
      const read = parts.map(async ({ uri: file, range: { first, bytes } }) =>
        sendRequest(new URL(file, url).href, { headers: { range: `bytes=${first}-${first + bytes - 1}` } }),
      );
      const answers = await Promise.all(read);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([206]));
      const etags = new Set(answers.map(({ headers }) => headers.etag));
      const times = await decodeTimes(Buffer.concat(answers.map(({ body }) => body)));
      return { url, etags: [...etags], times };
    }),
  );
}

/** The first decode time of each stream, in seconds. */
async function decodeTimes(file: Buffer): Promise<readonly number[]> {
  return withTemporaryFolder(async (folder) => {
    const path = join(folder, 'part.mp4');
    await writeFile(path, file);
    const { output } = await runProgram('ffprobe', [
      ...['-v', 'error', '-show_entries', 'packet=stream_index,dts_time', '-of', 'csv=p=0', path],
    ]);
    const packets = output.split('\n').map((line) => line.split(','));
    return ['0', '1'].flatMap((index) => {
      const [, seconds] = packets.find(([stream]) => stream === index) ?? [];
      return seconds === undefined ? [] : [Number(seconds)];
    });
  });
}

describe('heights that begin at different times', () => {
  it.each([
    ['of one list each', false],
    ['of two lists each', true],
  ])('%s have one clock, whichever comes first', async (_, isPair) => {
    for (const [first, second] of [
      ['h264-180', 'h264-90'],
      ['h264-90', 'h264-180'],
    ] as const) {
      const { urlOf } = await startLists(isPair);
      const master = urlOf(first, 'all.m3u8');
      const read = await readTracks(master);
      expect(read).toHaveLength(isPair ? 3 : 2);
      const [one, other, audio] = read.map(({ times }) => times[0] ?? Number.NaN);
      expect((other ?? 0) - (one ?? 0)).toBeCloseTo(STARTS[second] - STARTS[first], 1);
      if (isPair) expect((audio ?? 0) - (one ?? 0)).toBeCloseTo(3 - STARTS[first], 0);
      // What has been read of one of them does not change the addresses of the others.
      expect((await text(urlOf(second, 'master.m3u8'))).status).toBe(200);
      expect(await readTracks(urlOf(second, 'master.m3u8'))).toHaveLength(isPair ? 2 : 1);
      expect(await readTracks(master)).toEqual(read);
    }
  });

  it.each([false, true])(
    'are one manifest of DASH, whose segments are there (of two lists each: %s)',
    async (isPair) => {
      const { urlOf } = await startLists(isPair);
      const url = urlOf('h264-90', 'all.mpd');
      const manifest = await text(url);
      expect((await text(urlOf('h264-90', 'master.m3u8'))).status).toBe(200);
      expect((await text(urlOf('h264-180', 'all.m3u8'))).status).toBe(200);
      expect((await text(url)).text).toBe(manifest.text);
      const tracks = manifest.text.split('<Representation ').slice(1);
      expect(tracks).toHaveLength(isPair ? 3 : 2);
      for (const track of tracks) {
        const file = new URL(/<BaseURL>([^<]+)</.exec(track)?.[1]?.replaceAll('&amp;', '&') ?? '', url).href;
        const ranges = [...track.matchAll(/ (?:range|mediaRange)="([^"]+)"/g)].map(([, range = '']) => range);
        const parts = await Promise.all(
          ranges.map((range) => sendRequest(file, { headers: { range: `bytes=${range}` } })),
        );
        expect(parts.map(({ status }) => status)).toEqual(ranges.map(() => 206));
        const [seconds] = await decodeTimes(Buffer.concat(parts.map(({ body }) => body)));
        const [, start] = /<S t="(\d+)"/.exec(track) ?? [];
        expect(Number(start) / 90_000).toBeCloseTo(seconds ?? Number.NaN, 2);
      }
      const { code, output } = await runProgram('ffprobe', [
        ...['-v', 'error', '-show_entries', 'stream=height,start_time', '-of', 'csv=p=0', url],
      ]);
      expect(code).toBe(0);
      const starts = new Map(
        [...output.matchAll(/^(90|180),([\d.]+)/gm)].map(([, height, start]) => [height, Number(start)]),
      );
      expect((starts.get('90') ?? 0) - (starts.get('180') ?? 0)).toBeCloseTo(5, 1);
    },
  );

  it('are read alone by their addresses', async () => {
    const first = await startLists(false);
    const { variants } = checkPlaylist((await text(first.urlOf('h264-180', 'all.m3u8'))).text);
    const other = await startLists(false);
    const { pathname } = new URL(variants[1]?.uri ?? '', first.urlOf('h264-180', ''));
    const { origin } = new URL(other.urlOf('h264-180', ''));
    expect((await text(origin + pathname)).status).toBe(200);
    expect(other.asked.filter((path) => !path.startsWith('both-h264-90'))).toEqual([]);
  });

  it.each(['video@2.m3u8', 'both@1e9.m3u8', 'both@-1000.m3u8', 'both@1.2.3.m3u8', 'master@1.4.m3u8'])(
    'have no %s',
    async (name) => {
      const { urlOf } = await startLists(false);
      expect((await text(urlOf('h264-180', name))).status).toBe(404);
    },
  );

  it.each([
    [false, 'both-h264-90.m3u8', 1],
    [false, 'both-h264-180.m3u8', 1],
    [true, 'video-h264-90.m3u8', 2],
    [true, 'video-h264-180.m3u8', 2],
  ])('are those that can be read (of two lists each: %s, without %s)', async (isPair, broken, count) => {
    const { urlOf } = await startLists(isPair, [broken]);
    expect(await readTracks(urlOf('h264-180', 'all.m3u8'))).toHaveLength(count);
    const { code, output } = await runProgram('ffmpeg', [
      ...['-v', 'error', '-i', urlOf('h264-180', 'all.mpd'), '-c', 'copy', '-f', 'streamhash', '-'],
    ]);
    expect([code, output.match(/^\d+,v,/gm)?.length]).toEqual([0, 1]);
  });

  it('are those whose lists are answered in time', async () => {
    const { asked, urlOf } = await startLists(false, [], 'both-h264-90.m3u8');
    expect(await readTracks(urlOf('h264-180', 'all.m3u8'))).toHaveLength(1);
    expect(asked).toContain('both-h264-90.m3u8');
  });

  it('are refused as the first one is where none can be read', async () => {
    const { urlOf } = await startLists(
      false,
      Object.keys(STARTS).map((name) => `both-${name}.m3u8`),
    );
    const all = await text(urlOf('h264-180', 'all.m3u8'));
    const one = await text(urlOf('h264-180', 'master.m3u8'));
    expect([all.status, all.text]).toEqual([one.status, one.text.replace('master', 'all')]);
  });
});

describe('a player chooses among them', () => {
  it.each(['all.m3u8', 'all.mpd'])('by %s: FFmpeg', async (name) => {
    const baseOf = await startLadder();
    const args = ['-v', 'error', '-show_entries', 'stream=height,codec_type', '-of', 'csv=p=0', `${baseOf()}${name}`];
    const { code, output } = await runProgram('ffprobe', args);
    expect(code).toBe(0);
    // In programs, and by themselves.
    expect(new Set(output.match(/video,\d+/g))).toEqual(new Set(HEIGHTS.map((height) => `video,${height}`)));
  });

  itWith('mpv').each([
    ['all.m3u8', 'max', '1920x1080'],
    ['all.m3u8', 'min', '640x360'],
    ['all.mpd', 'max', '1920x1080'],
  ])('by %s: mpv, of bit rate %s', async (name, rate, size) => {
    const baseOf = await startLadder();
    const { output } = await runProgram('mpv', [
      ...['--no-config', '--vo=null', '--ao=null', '--length=0.5', `--hls-bitrate=${rate}`],
      baseOf() + name,
    ]);
    expect(output).toContain(`VO: [null] ${size}`);
  });

  /** The script of a package, whether it exports the file or not. */
  const scriptOf = (file: string) => join(import.meta.dirname, '../../../../node_modules', file);
  /** Plays from the beginning, and from a position after the player was told to take another height. Returns both heights. */
  const PLAY = `async (changeHeight) => {
    const video = document.querySelector('video');
    const until = (isThere) => new Promise((resolve, reject) => {
      const check = () => isThere() && resolve();
      for (const name of ['timeupdate', 'seeked', 'resize', 'playing']) video.addEventListener(name, check);
      video.addEventListener('error', () => reject(new Error(video.error?.message)));
      check();
    });
    await video.play();
    await until(() => video.currentTime > 0.3);
    const before = video.videoHeight;
    changeHeight();
    video.currentTime = 5;
    await until(() => !video.seeking && video.currentTime > 5.2 && video.videoHeight !== before);
    return { before, after: video.videoHeight, seconds: video.duration };
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
    const baseOf = await startLadder();
    await using page = await (await playerBrowser()).newPage();
    await page.setContent('<video muted></video>');
    await page.addScriptTag({ content: await readFile(scriptOf(library), 'utf8') });
    const played = await page.evaluate(`new Promise((done, fail) => {
      const video = document.querySelector('video');
      const url = '${baseOf(combinedKey('h264-360'))}${name}';
      const ready = (changeHeight) => (${PLAY})(changeHeight).then(done, fail);
      ${start}
    })`);
    expect(played).toMatchObject({ before: 360, after: 1080 });
    expect(Math.round((played as { seconds: number }).seconds)).toBe(SECONDS);
  });
});
