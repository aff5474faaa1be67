import { describe, expect, it } from 'vitest';
import { subtitleId } from '../../../../core/state/keys.ts';
import type { Resource, Subtitle, Track } from '../../../../core/state/resource.ts';
import type { OpenSource } from '../../../../stream-service/source/open-source.ts';
import { itInChromium } from '../../../support/chromium.ts';
import { itWith } from '../../../support/clients.ts';
import { runProgram } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import {
  audioTrack,
  combinedKey,
  renditionOf,
  resourceOf,
  type ServiceFixtureOptions,
  startService,
  trackOf,
} from '../../fixture.ts';
import { useFolderSite } from '../../folder-site.ts';
import { H264, transport } from '../../matrix/sources.ts';
import { fileSource } from '../encode/mp3/fixture.ts';
import { readPlaylist } from './hls-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';
import { runWithPlayer } from './player.ts';

const media = await usePairMedia();
const SECONDS = 8;
/** That of the default receiver of Google Cast. */
const RECEIVER = 'https://www.gstatic.com';
const OPTIONS: ServiceFixtureOptions = { corsAllowedOrigins: [RECEIVER] };

/** What is said from 1 to 2 s, and from 6 to 7 s. */
const SAID: Readonly<Record<string, readonly [string, string]>> = { de: ['eins', 'sechs'], 'en-orig': ['one', 'six'] };
const webVtt = ([first, second]: readonly [string, string]) =>
  `WEBVTT\n\n00:01.000 --> 00:02.000\n${first}\n\n00:06.000 --> 00:07.000\n${second}\n`;
const TEXTS = Object.fromEntries(Object.entries(SAID).map(([language, said]) => [language, Buffer.from(webVtt(said))]));

type Text = Pick<Subtitle, 'language'> & Partial<Subtitle>;
const GERMAN: Text = { language: 'de' };
const ENGLISH: Text = { language: 'en-orig', isAutomatic: true };
const BROKEN: Text = { language: 'fr', name: 'Broken' };

const textsOf = (texts: readonly Text[]) =>
  texts.map((text): Subtitle => {
    const { language, isAutomatic = false } = text;
    return { ...text, isAutomatic, formatId: `${language}${isAutomatic}`, id: subtitleId({ language, isAutomatic }) };
  });
const textTrack = ({ formatId }: Subtitle, traits: Partial<Track> = {}): Track =>
  trackOf(formatId, { container: 'vtt', video: null, audio: null, ...traits });

const ladderOf = (...heights: readonly number[]): Partial<Resource> => ({
  durationSeconds: SECONDS,
  renditions: heights.map((height) => ({ ...renditionOf([`h264-${height}`, 'audio']), height, label: `${height}p` })),
});

/** An item of two heights with subtitles. @returns addresses of its output */
async function startLadder(texts: readonly Text[] = [GERMAN, ENGLISH]) {
  const subtitles = textsOf(texts);
  const videos = [720, 360].map((height) => trackOf(`h264-${height}`, { audio: null }));
  const files = [...videos.map(({ formatId }) => [formatId, `${formatId}.mp4`] as const), ['audio', 'aac-128.m4a']];
  const opened = files.map(async ([id = '', file]) => [id, await media.load(`ladder/${file}`)] as const);
  const sourceOf = ({ language, formatId }: Subtitle): [string, OpenSource] => [
    formatId,
    async () => fileSource(TEXTS[language] ?? Buffer.from('<html>Not here</html>')),
  ];
  const sources = { ...Object.fromEntries(await Promise.all(opened)), ...Object.fromEntries(subtitles.map(sourceOf)) };
  const tracks = [...videos, audioTrack(), ...subtitles.map((text) => textTrack(text))];
  const item = resourceOf(tracks, { ...ladderOf(720, 360), subtitles });
  const { url } = await startService(item, sources, OPTIONS);
  return (file: string) => `${url}/api/Stream/Hls/${combinedKey('h264-720')}/${file}`;
}

const bodyOf = async (url: string) => {
  const { status, body } = await sendRequest(url);
  expect(status).toBe(200);
  return body.toString();
};
const titlesOf = async (master: string) =>
  (await readPlaylist(master)).texts.map(({ NAME, LANGUAGE, AUTOSELECT, DEFAULT }) =>
    [NAME, LANGUAGE, AUTOSELECT, DEFAULT].join(' '),
  );

/** Lists of MPEG-TS, whose clock begins at 20 s. */
const listOf = (name: string, input: string, ...coded: readonly string[]) => [
  ...['-f', 'lavfi', '-i', `${input}:d=${SECONDS}`, ...coded, '-output_ts_offset', '20', ...transport(name)],
];
const site = useFolderSite([
  ...[360, 180].map((height) =>
    listOf(`h264-${height}`, `testsrc=s=${(height * 16) / 9}x${height}:r=25`, ...H264, '-pix_fmt', 'yuv420p'),
  ),
  listOf('audio', 'sine=400:r=48000', '-c:a', 'aac'),
]);

async function startLists() {
  const subtitles = textsOf([GERMAN, ENGLISH]);
  for (const { language, formatId } of subtitles) site.texts.set(`${formatId}.vtt`, TEXTS[language] as Buffer);
  const tracks = [
    ...[360, 180].map((height) => trackOf(`h264-${height}`, { ...site.listOf(`h264-${height}`), audio: null })),
    audioTrack(site.listOf('audio')),
    ...subtitles.map((text) => textTrack(text, { url: `${site.upstream.origin}/${text.formatId}.vtt` })),
  ];
  const { url } = await site.serve(tracks, { ...ladderOf(360, 180), subtitles }, {}, OPTIONS);
  return (file: string) => `${url}/api/Stream/Hls/${combinedKey('h264-360')}/${file}`;
}

describe('subtitles of a presentation', () => {
  it('are listed by people before automatic ones, by their names, in master.m3u8, all.m3u8 and all.mpd', async () => {
    const urlOf = await startLadder([ENGLISH, GERMAN]);
    for (const file of ['master.m3u8', 'all.m3u8']) {
      expect(await titlesOf(urlOf(file))).toEqual(['"German" "de" YES NO', '"English (automatic)" "en" YES NO']);
      const { variants } = await readPlaylist(urlOf(file));
      expect(new Set(variants.map(({ SUBTITLES }) => SUBTITLES))).toEqual(new Set(['"subtitles"']));
    }
    const manifest = await bodyOf(urlOf('all.mpd'));
    expect(manifest.match(/mimeType="text\/vtt" lang="[^"]+"/g)).toEqual(
      ['de', 'en'].map((language) => `mimeType="text/vtt" lang="${language}"`),
    );
    expect(manifest.match(/(?<=<Label>)[^<]+/g)).toEqual(['German', 'English (automatic)']);
  });

  it.each<[string, Text[], string[]]>([
    [
      'automatic ones are left out in a language that people have written',
      [{ language: 'en-US' }, { ...ENGLISH, language: 'en-US' }, ENGLISH],
      ['"American English" "en-US" YES NO', '"English (automatic)" "en" YES NO'],
    ],
    [
      'of two in one language a player chooses the first by itself',
      [
        { language: 'en-eEY6OEpapPo', name: 'Songs' },
        { language: 'en', name: 'Speech' },
      ],
      ['"Speech" "en" YES NO', '"Songs" "en" NO NO'],
    ],
    [
      'names of sites are no lines, ends or other names',
      [
        { language: 'de', name: 'A "b"\r\n#EXT-X-ENDLIST' },
        { language: 'fr', name: "A 'b' #EXT-X-ENDLIST" },
      ],
      [`"A 'b' #EXT-X-ENDLIST" "de" YES NO`, `"A 'b' #EXT-X-ENDLIST 2" "fr" YES NO`],
    ],
    [
      'what is no language is not said to be one',
      [{ language: 'x_y' }, { language: 'deu_AT' }],
      ['"x_y"  YES NO', '"Austrian German" "de-AT" YES NO'],
    ],
  ])('%s', async (_, texts, titles) => {
    const urlOf = await startLadder(texts);
    expect((await titlesOf(urlOf('all.m3u8'))).toSorted()).toEqual(titles.toSorted());
  });

  it('are 32 of an item at most', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => ({ language: `de-x-${index}` }));
    expect(await titlesOf((await startLadder(texts))('master.m3u8'))).toHaveLength(32);
  });

  it.each<[string, () => Promise<(file: string) => string>, clock: RegExp]>([
    ['files', () => startLadder(), /^0$/],
    // FFmpeg's own delay is 1.4 s.
    ['lists', () => startLists(), /^(?:18|19)\d{5}$/],
  ])('are one file of WebVTT, on the clock of the media of %s', async (_, start, clock) => {
    const urlOf = await start();
    const { texts: listed } = await readPlaylist(urlOf('all.m3u8'));
    const { URI = '' } = listed.find(({ LANGUAGE }) => LANGUAGE === '"de"') ?? {};
    const playlist = new URL(URI.slice(1, -1), urlOf('all.m3u8')).href;
    const [, seconds, file = ''] = /#EXTINF:([\d.]+),\n(.+)\n#EXT-X-ENDLIST/.exec(await bodyOf(playlist)) ?? [];
    expect(Math.round(Number(seconds))).toBe(SECONDS);
    const { headers, body } = await sendRequest(new URL(file, playlist).href);
    expect(headers).toMatchObject({ 'content-type': 'text/vtt; charset=utf-8', 'accept-ranges': 'bytes' });
    const [, ticks] = /^WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:(\d+),LOCAL:00:00:00\.000\n/.exec(body.toString()) ?? [];
    expect(ticks).toMatch(clock);
    expect(body.toString()).toContain('00:00:06.000 --> 00:00:07.000\nsechs\n');
  });

  it('have no cues, and are not cached, where they cannot be read', async () => {
    const urlOf = await startLadder([BROKEN]);
    const [broken] = textsOf([BROKEN]);
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await sendRequest(urlOf(`text-${broken?.id}.vtt`), { method });
      expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
      if (method === 'GET') expect(body.toString()).toMatch(/^WEBVTT\n.*\n\nNOTE The source cannot be read: .+\n$/);
    }
  });

  it.each(['text-AAAAAAAAAAA.vtt', 'text-AAAAAAAAAAA.m3u8', 'text-.vtt', 'text-AAAAAAAAAAA.mp4'])(
    'have no %s',
    async (file) => expect((await sendRequest((await startLadder())(file))).status).toBe(404),
  );

  it('do not end FFmpeg, which reads those of every language', async () => {
    const urlOf = await startLadder([GERMAN, ENGLISH, BROKEN]);
    const kinds = async (file: string) => {
      const args = ['-v', 'error', '-show_entries', 'stream=codec_type', '-of', 'csv=p=0', urlOf(file)];
      const { code, output } = await runProgram('ffprobe', args);
      expect(code).toBe(0);
      return new Set(output.trim().split(/\s+/));
    };
    expect(await kinds('all.mpd')).toEqual(new Set(['video', 'audio', 'subtitle']));
    // Up to version 5 it leaves those of HLS out.
    for (const file of ['master.m3u8', 'all.m3u8']) expect(await kinds(file)).toContain('video');
  });

  itWith('mpv')('are shown by mpv, of all.mpd', async () => {
    const url = (await startLadder([GERMAN, ENGLISH, BROKEN]))('all.mpd');
    const { output } = await runProgram('mpv', [
      ...['--no-config', '--vo=null', '--ao=null', '--slang=de', '--start=5.9', '--length=0.5', url],
    ]);
    expect(output).toMatch(/Subs +--sid=\d/);
  });
});

/**
 * For each language: plays from the beginning past the first words, and pauses at the second ones. `select` has the player show a language.
 */
const WATCH = `async (select) => {
  const shown = () => [...video.textTracks].flatMap(({ mode, activeCues }) => mode === 'showing' ? [...activeCues ?? []] : []);
  const texts = () => shown().map(({ text }) => text.replace(/<[^>]+>/g, ''));
  const seen = {};
  const next = () => new Promise((resolve) => {
    for (const track of video.textTracks) track.addEventListener('cuechange', resolve, { once: true });
    video.textTracks.addEventListener('addtrack', resolve, { once: true });
    video.addEventListener('timeupdate', resolve, { once: true });
  });
  const at = async (seconds, isThere) => {
    video.currentTime = seconds;
    await until(() => !video.seeking);
    while (!isThere()) await next();
    return shown().map(({ startTime, endTime }) => [startTime.toFixed(1), endTime.toFixed(1), ...texts()].join(' '));
  };
  // On a busy machine it would end before a player has read what was selected.
  video.playbackRate = 0.25;
  await video.play();
  await until(() => video.currentTime > 0.1);
  for (const language of ['de', 'en']) {
    await select(language);
    while (![...video.textTracks].some(({ mode, cues }) => mode === 'showing' && cues?.length > 0)) await next();
    const isOf = (words) => () => texts().some((text) => words.includes(text));
    const words = language === 'de' ? ['eins', 'sechs'] : ['one', 'six'];
    seen[language] = [
      ...await at(0.8, isOf([words[0]])),
      ...await at(6.2, isOf([words[1]])),
      ...await at(1.2, isOf([words[0]])),
      ...await at(3.5, () => video.currentTime > 3.7 && shown().length === 0),
    ];
  }
  return { seen, height: video.videoHeight > 0, seconds: Math.round(video.duration) };
}`;

const HLS_JS = `const hls = new Hls({ enableWorker: false });
  hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details)));
  const select = async (language) => {
    hls.subtitleDisplay = true;
    hls.subtitleTrack = hls.subtitleTracks.findIndex(({ lang }) => lang === language);
  };
  hls.on(Hls.Events.MANIFEST_PARSED, () => play(select));
  hls.loadSource(url);
  hls.attachMedia(video);`;
const SHAKA = `const player = new shaka.Player();
  // It places what is selected later by the next segment of the video, and all of this one is in its buffer by then.
  player.configure({ preferredText: [{ language: 'de' }] });
  player.addEventListener('error', ({ detail }) => fail(new Error('Shaka ' + detail.code)));
  const select = async (language) => {
    const track = player.getTextTracks().find((each) => each.language === language);
    player.selectTextTrack(track);
    await player.setTextTrackVisibility?.(true);
  };
  player.attach(video).then(() => player.load(url)).then(() => play(select)).catch(fail);`;
const DASH_JS = `const player = dashjs.MediaPlayer().create();
  player.on('error', ({ error }) => fail(new Error(error.message)));
  const select = async (language) => {
    const index = player.getTracksFor('text').findIndex(({ lang }) => lang === language);
    player.setTextTrack(index);
  };
  player.on('streamInitialized', () => play(select));
  player.initialize(video, url, false);`;
const PLAYERS = [
  ['hls.js', 'hls.js/dist/hls.min.js', 'master.m3u8', HLS_JS],
  ['hls.js', 'hls.js/dist/hls.min.js', 'all.m3u8', HLS_JS],
  ['Shaka Player', 'shaka-player/dist/shaka-player.compiled.js', 'all.m3u8', SHAKA],
  ['Shaka Player', 'shaka-player/dist/shaka-player.compiled.js', 'all.mpd', SHAKA],
  ['dash.js', 'dashjs/dist/modern/umd/dash.all.min.js', 'all.mpd', DASH_JS],
] as const;

describe('the receiver of another origin shows both languages when they are said, also after a seek', () => {
  const sources = [
    ['files', () => startLadder([GERMAN, ENGLISH, BROKEN])],
    ['lists', () => startLists()],
  ] as const;
  itInChromium.each(
    PLAYERS.flatMap(([name, library, file, script]) =>
      sources
        // dash.js (5.2.1) drops subtitles that arrive while it seeks: those of lists it does not always show here.
        .filter(([kind]) => name !== 'dash.js' || kind === 'files')
        .map(([kind, start]) => [name, file, kind, library, script, start] as const),
    ),
  )('by %s, %s of %s', async (_name, file, _kind, library, script, start) => {
    const url = (await start())(file);
    const played = await runWithPlayer(
      library,
      `const url = '${url}';
      const play = (select) => (${WATCH})(select).then(done, fail);
      ${script}`,
      RECEIVER,
    );
    const cues = ([first, second]: readonly [string, string]) => [
      `1.0 2.0 ${first}`,
      `6.0 7.0 ${second}`,
      `1.0 2.0 ${first}`,
    ];
    expect(played).toEqual({
      seen: { de: cues(SAID.de as [string, string]), en: cues(SAID['en-orig'] as [string, string]) },
      height: true,
      seconds: SECONDS,
    });
  });
});
