import type { Source } from '@reelay/source';
import { describe, expect, it } from 'vitest';
import { NotFound, UpstreamError } from '../../../../core/errors/index.ts';
import type { Resource, Track } from '../../../../core/state/resource.ts';
import type { StreamServiceOptions } from '../../../../stream-service/create-stream-service.ts';
import type { OpenSource } from '../../../../stream-service/source/open-source.ts';
import { itInChromium } from '../../../support/chromium.ts';
import { itWith } from '../../../support/clients.ts';
import { expectPackets } from '../../../support/expect-packets.ts';
import { probe, runProgram } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../../support/segments-service.ts';
import { combinedKey, startService, trackOf, videoTrack } from '../../fixture.ts';
import { fileSource } from '../encode/mp3/fixture.ts';
import { readPlaylist, tracksOf } from '../layout/hls-fixture.ts';
import { usePairMedia } from '../layout/pair-fixture.ts';
import { playUrl, runWithPlayer } from '../layout/player.ts';
import { type Dub, itemOf } from './fixture.ts';
import { startVlc } from './vlc.ts';

const media = await usePairMedia();

/** Each file has another codec, and 8 seconds. */
const SPOKEN = [
  { language: 'en', file: 'short-indexed.m4a', codec: 'aac', name: 'English', code: 'eng' },
  { language: 'de', file: 'ac3.mp4', codec: 'ac-3', name: 'German', code: 'deu' },
  { language: 'fr', file: 'mp3.mp4', codec: 'mp3', name: 'French', code: 'fra' },
  { language: 'pt-BR', file: 'opus.mp4', codec: 'opus', name: 'Brazilian Portuguese', code: 'por' },
  { language: 'ja', file: 'flac.mp4', codec: 'flac', name: 'Japanese', code: 'jpn' },
] as const;
const NAMES = SPOKEN.map(({ name }) => name);
const DUBS = SPOKEN.map(({ language, codec }, index): Dub => {
  return { language, track: { audio: { codec } }, rendition: { versions: [index === 0 ? 'original' : 'dubbed'] } };
});
/** Three more in AAC, fragmented and not. */
const AAC_FILES = { it: 'ladder/aac-128.m4a', es: 'chained-short.m4a', xx: 'silent.mp4' };
/** By language. */
const FILES: Readonly<Record<string, string>> = {
  ...AAC_FILES,
  ...Object.fromEntries(SPOKEN.map(({ language, file }) => [language, file])),
};
const AAC_DUBS: readonly Dub[] = ['it', 'es'].map((language) => ({
  language,
  track: { audio: { codec: 'mp4a.40.2' } },
}));

const SUBTITLE = { id: 'text', formatId: 'text', language: 'en', isAutomatic: false };
const VTT = fileSource(Buffer.from('WEBVTT\n\n00:01.000 --> 00:03.000\nHello\n'));

interface Item {
  readonly dubs: readonly Dub[];
  readonly of: Partial<Track>;
  readonly options: Partial<StreamServiceOptions>;
  /** In place of the files, by language. */
  readonly sources: Readonly<Record<string, Source | OpenSource>>;
  readonly traits: Partial<Resource>;
}

/** The service with a video of 8 seconds in five languages. */
async function start(video: string, { dubs = DUBS, of = {}, options, sources, traits }: Partial<Item> = {}) {
  const load = async ({ language }: Dub) => [language, await media.load(FILES[language] ?? '')] as const;
  const loaded = Object.fromEntries(await Promise.all(dubs.map(load)));
  const item = itemOf(dubs, videoTrack(of), traits);
  const text = trackOf('text', { container: 'vtt', video: null, audio: null });
  const resource = { ...item, tracks: [...item.tracks, text], subtitles: [SUBTITLE] };
  const all = { ...loaded, text: VTT, video: await media.load(video), ...sources };
  const service = await startService(resource, all, options);
  const url = (operation: string) =>
    `${service.url}/api/Stream/${operation}/${combinedKey('video', dubs[0]?.language)}`;
  return { media: url('Media'), combined: url('Combined'), hls: `${url('Hls')}/` };
}

interface Stream {
  readonly codec_name: string;
  readonly duration: string;
  readonly disposition: { readonly default: number };
  readonly tags: Readonly<Record<string, string>>;
}

async function audioStreams(url: string): Promise<readonly Stream[]> {
  const args = '-v error -of json -show_streams -select_streams a'.split(' ');
  return JSON.parse((await runProgram('ffprobe', [...args, url])).output).streams;
}

/** Expects the tracks of five languages, of which the first plays by itself. */
async function expectLanguages(url: string): Promise<readonly Stream[]> {
  const streams = await audioStreams(url);
  expect(streams.map(({ tags }) => [tags.language, tags.handler_name])).toEqual(
    SPOKEN.map(({ code, name }) => [code, name]),
  );
  expect(streams.map(({ disposition }) => disposition.default)).toEqual([1, 0, 0, 0, 0]);
  return streams;
}

describe('audio=all', () => {
  it.each([
    ['progressive', 'bframes.mp4', 'ladder/aac-128.m4a'],
    ['fragmented', 'chained-short.mp4', 'short-indexed.m4a'],
    ['muxed', 'ladder/both-720.mp4', 'short-indexed.m4a'],
  ])('is one file with the length and ranges of a %s video and five languages', async (kind, video, original) => {
    const started = await start(video, { sources: { en: await media.load(original) } });
    const url = `${started.media}?audio=all`;
    const { body, headers } = await expectSeekable(url);
    expect(headers['content-disposition']).toContain('(all languages).mp4');
    expect(body.includes('moof')).toBe(kind !== 'progressive');
    await media.expectPackets(body, [video, original, ...SPOKEN.slice(1).map(({ file }) => file)]);
    const streams = await expectLanguages(url);
    const last = kind === 'progressive' ? 6 : 8;
    expect(streams.map(({ duration }) => Math.round(Number(duration)))).toEqual([8, 8, 8, 8, last]);
    expect(body.includes('pt-BR\0', 0, 'latin1')).toBe(true);
    const mpv = await runProgram('mpv', ['--no-config', '--vo=null', '--ao=null', '--aid=4', '--length=0.1', url]);
    expect([mpv.code, mpv.output]).toEqual([0, expect.stringMatching(/\(\+\) +Audio +--aid=4 +--alang=por/)]);
    const fromStart = await sendRequest(`${started.combined}?audio=all`);
    expect(fromStart.body.equals(body)).toBe(true);
    expect(fromStart.headers['content-location']).toMatch(/\/Media\/[\w-]+\?audio=all$/);

    const tagged = `${url}&tags=true&subtitles=en`;
    await sendRequest(tagged);
    await expectSeekable(tagged);
    const { streams: all, tags: found } = await probe(tagged);
    expect(all.map(({ type }) => type)).toEqual(['video', ...Array(5).fill('audio'), 'subtitle']);
    expect(found).toMatchObject({ title: 'A clip', artist: 'Someone' });
    const clip = `${url}&start=2&end=5`;
    expect((await expectSeekable(clip)).headers['content-disposition']).toContain('(all languages) (0-02');
    for (const { duration } of await expectLanguages(clip)) expect(Number(duration)).toBeCloseTo(3, 0);
  });

  it.each([
    ['chained.mp4', {}],
    ['ladder/vp9-360.webm', { container: 'webm', video: { codec: 'vp9' } }],
  ])('muxes every language from the beginning where %s has no layout', async (video, of) => {
    const url = `${(await start(video, { of })).media}?audio=all`;
    const { status, headers } = await sendRequest(url, { maxBytes: 100 });
    const { 'content-type': type, 'content-length': length } = headers;
    expect([status, type, length]).toEqual([200, 'video/mp4', undefined]);
    await expectLanguages(url);
  });

  itInChromium.each(['bframes.mp4', 'chained-short.mp4'])('of %s plays and seeks in Chromium', async (video) => {
    const { media: url } = await start(video);
    const { duration, seeks } = await playUrl(`${url}?audio=all`, [5, 1]);
    expect([Math.round(duration), seeks]).toEqual([8, [5, 1]]);
  });
});

it.each([
  [0, 2, 200, /(?:)/],
  [2, 4, 415, /cannot leave out segments: .*only one part can be kept\. Choose one with audio=LANG/],
])('with what is skipped from %d to %d, every language is %d', async (from, to, status, detail) => {
  const { options } = await startSegmentsService(answerSegments(segmentOf(from, to)));
  const traits = { origin: { url: 'https://site.example/watch', extractor: 'Youtube', entryId: VIDEO_ID } };
  const { media: url } = await start('bframes.mp4', { options, traits });
  const answer = await sendRequest(`${url}?audio=all&skip=sponsor`);
  expect([answer.status, answer.body.toString('latin1')]).toEqual([status, expect.stringMatching(detail)]);
});

describe('audio=LANG', () => {
  it('is the pair of the video and that language, by its prefix and in any case too', async () => {
    const { media: url } = await start('bframes.mp4');
    const { headers: plain, body: own } = await sendRequest(url);
    const etags = new Set([plain.etag]);
    for (const [wanted, index] of Object.entries({ de: 1, DEU: 1, pt: 3, 'pt-br': 3 } as const)) {
      const { code, name, file } = SPOKEN[index];
      const { body, headers } = await expectSeekable(`${url}?audio=${wanted}`);
      const told = (await audioStreams(`${url}?audio=${wanted}`)).map(({ tags, disposition }) => {
        return [tags.language, tags.handler_name, disposition.default];
      });
      expect(told).toEqual([[code, name, 1]]);
      expect(headers['content-disposition']).toContain(`(${name}).mp4`);
      await media.expectPackets(body, ['bframes.mp4', file]);
      etags.add(headers.etag);
    }
    for (const wanted of ['original', 'en', 'EN']) {
      const { headers, body } = await sendRequest(`${url}?audio=${wanted}`);
      expect([headers.etag, headers['content-disposition']]).toEqual([plain.etag, plain['content-disposition']]);
      expect(body.equals(own)).toBe(true);
    }
    expect(etags.size).toBe(3);

    const [english, french] = [await sendRequest(`${url}?format=mp3`), await sendRequest(`${url}?format=mp3&audio=fr`)];
    expect(french.headers['content-disposition']).toContain('(French).mp3');
    expect([french.body.length, french.body.equals(english.body)]).toEqual([english.body.length, false]);
    const clip = await audioStreams(`${url}?audio=ja&start=1&end=3`);
    expect(clip.map(({ tags }) => tags.language)).toEqual(['jpn']);
  });

  it.each([
    ['Media', 'audio=xx', 400, /^No audio in xx\. Available: en, de, fr, pt-BR, ja\.$/],
    ['Media', 'audio=pt-PT', 400, /^No audio in pt-PT/],
    ['Combined', 'audio=xx', 400, /^No audio in xx/],
    ['Hls', 'audio=xx', 400, /^No audio in xx/],
    ['Media', 'audio=..%2F', 400, /audio must be/],
    ['Combined', `audio=${'x'.repeat(36)}`, 400, /audio must be/],
    ['Hls', 'audio=en&audio=de', 400, /audio is given more than once/],
  ])('%s?%s is %d', async (operation, query, status, detail) => {
    const { media: url, combined, hls } = await start('bframes.mp4');
    const address = `${{ Media: url, Combined: combined, Hls: `${hls}master.m3u8` }[operation]}?${query}`;
    const answer = await sendRequest(address);
    const problem = JSON.parse(answer.body.toString());
    expect([answer.status, problem.detail]).toEqual([status, expect.stringMatching(detail)]);
    expect((await sendRequest(address, { method: 'HEAD' })).status).toBe(status);
  });

  it('is laid out again when the file of one language has changed', async () => {
    let german = await media.load('ac3.mp4');
    const sources = { de: async () => german };
    const url = `${(await start('chained-short.mp4', { dubs: DUBS.slice(0, 2), sources })).media}?audio=all`;
    // The header alone: the places have not been read.
    const { headers: before } = await sendRequest(url, { headers: { range: 'bytes=0-9' } });
    german = await media.load('mp3.mp4');
    const { headers: after } = await sendRequest(url, { headers: { range: 'bytes=5000-' } });
    expect(after.etag).not.toBe(before.etag);
    expect((await expectSeekable(url)).headers.etag).toBe(after.etag);
  });
});

const namesOf = async (hls: string) => (await readPlaylist(`${hls}master.m3u8`)).media.map(({ NAME }) => NAME);

describe('the HLS presentation', () => {
  it.each(['bframes.mp4', 'chained-short.mp4'])(
    'of %s lists the languages that have its codec, the original first',
    async (video) => {
      const { hls } = await start(video, { dubs: [...DUBS, ...AAC_DUBS] });
      const master = await readPlaylist(`${hls}master.m3u8`);
      expect(
        master.media.map(({ NAME, LANGUAGE, DEFAULT, AUTOSELECT }) => [NAME, LANGUAGE, DEFAULT, AUTOSELECT]),
      ).toEqual([
        ['"English"', '"en"', 'YES', 'YES'],
        ['"Italian"', '"it"', 'NO', 'YES'],
        ['"Spanish"', '"es"', 'NO', 'YES'],
      ]);
      expect(master.variants[0]?.CODECS).toMatch(/^"avc1\.\w+,mp4a\.40\.2"$/);
      expect(await audioStreams(`${hls}master.m3u8`)).toHaveLength(3);
      const files = [video, ...['en', 'it', 'es'].map((language) => FILES[language] ?? '')].map(media.pathOf);
      await expectPackets(`${hls}master.m3u8`, files as [string], {
        sides: ['a', 'a1', 'a2'],
        isApart: true,
      });
      const all = await readPlaylist(`${hls}master.m3u8?audio=all`);
      expect(all.media.map(({ NAME, URI }) => [NAME, URI])).toEqual(
        [...NAMES, 'Italian', 'Spanish'].map((name, index) => [
          `"${name}"`,
          `"audio${index > 0 ? `-${index + 1}` : ''}.m3u8?audio=all"`,
        ]),
      );
      expect(all.variants[0]?.CODECS).toMatch(/,mp4a\.40\.2,ac-3,mp4a\.6b,Opus,fLaC"$/);
      expect((await audioStreams(`${hls}master.m3u8?audio=all`)).map(({ codec_name }) => codec_name)).toEqual(
        'aac ac3 mp3 opus flac aac aac'.split(' '),
      );
      for (const name of ['audio-3.m3u8', 'audio-2.m3u8?audio=all', 'video.mp4']) await expectSeekable(hls + name);
      const one = await readPlaylist(`${hls}master.m3u8?audio=de`);
      expect(one.media.map(({ NAME, URI }) => [NAME, URI])).toEqual([['"German"', '"audio.m3u8?audio=de"']]);
      const playlist = await readPlaylist(`${hls}audio.m3u8?audio=de`);
      const [segment] = playlist.segments;
      expect((await sendRequest(hls + segment?.uri, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
      expect((await sendRequest(`${hls}audio-6.m3u8`)).status).toBe(404);
    },
  );

  it('is without languages whose files are found to have no audio, or another codec', async () => {
    const dubs = [...DUBS.slice(0, 1), ...['xx', 'fr', 'it'].map((language) => ({ ...AAC_DUBS[0], language }))];
    const { hls } = await start('bframes.mp4', { dubs });
    expect((await tracksOf(`${hls}master.m3u8`)).uris.slice(1)).toEqual(['audio.m3u8', 'audio-4.m3u8']);
    expect((await sendRequest(`${hls}audio-2.m3u8`)).status).toBe(415);
  });

  it.each([
    [404, () => new NotFound('The file is gone')],
    [502, () => new UpstreamError('The source fails')],
  ])('plays where the source of one language fails, whose playlist alone is %d', async (failed, error) => {
    let isFailing = true;
    const italian = await media.load('ladder/aac-128.m4a');
    const { hls } = await start('chained-short.mp4', {
      dubs: [...DUBS.slice(0, 1), ...AAC_DUBS],
      sources: { it: async () => (isFailing ? Promise.reject(error()) : italian) },
    });
    const statusOf = async (name: string) => (await sendRequest(`${hls}${name}.m3u8`)).status;
    const statuses = () => Promise.all(['master', 'video', 'audio', 'audio-2', 'audio-3'].map(statusOf));
    expect(await statuses()).toEqual([200, 200, 200, failed, 200]);
    expect(await namesOf(hls)).toEqual(['"English"', '"Italian"', '"Spanish"']);
    const { code, output } = await runProgram('ffmpeg', [
      ...['-v', 'error', '-i', `${hls}master.m3u8`, '-map', '0:v', '-map', '0:m:language:es'],
      ...['-c', 'copy', '-f', 'framemd5', '-'],
    ]);
    expect([code, output.match(/^1,/gm)?.length]).toEqual([0, expect.toSatisfy((packets) => packets > 300)]);
    const before = (await sendRequest(`${hls}audio-3.m3u8`)).body;
    isFailing = false;
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    // What has played meanwhile goes on with the same bytes.
    expect((await sendRequest(`${hls}audio-3.m3u8`)).body.equals(before)).toBe(true);
    const { segments } = await readPlaylist(`${hls}audio-2.m3u8`);
    await expectSeekable(hls + segments[0]?.uri);
  });

  it('lists a language whose source does not answer, without waiting for it', async () => {
    const dubs = [...DUBS.slice(0, 1), ...AAC_DUBS];
    const { hls } = await start('chained-short.mp4', { dubs, sources: { it: () => new Promise(() => undefined) } });
    expect(await namesOf(hls)).toEqual(['"English"', '"Italian"', '"Spanish"']);
  });

  itInChromium.each([
    ['', ['English', 'Italian']],
    ['?audio=all', ['English', 'Italian', 'Brazilian Portuguese']],
  ])('%s plays in hls.js, which offers the languages', async (query, names) => {
    const { hls } = await start('chained-short.mp4', {
      dubs: [...DUBS.slice(0, 1), ...AAC_DUBS.slice(0, 1), ...DUBS.slice(3, 4)],
    });
    const found = await runWithPlayer(
      'hls.js/dist/hls.js',
      `const hls = new Hls();
      const names = [];
      hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details)));
      hls.on(Hls.Events.AUDIO_TRACK_SWITCHED, (_, { name }) => names.push(name));
      let playedUntil = 0;
      video.addEventListener('timeupdate', () => {
        if (video.currentTime < playedUntil + 0.2 || names.length <= hls.audioTrack) return;
        playedUntil = video.currentTime;
        if (names.length === hls.audioTracks.length) done(names);
        else hls.audioTrack += 1;
      });
      hls.loadSource('${hls}master.m3u8${query}');
      hls.attachMedia(video);
      video.play();`,
    );
    expect(found).toEqual(names);
  });

  itWith('vlc').each([
    ['Media', /1 - English - \[English\] \*\s.*5 - Japanese - \[Japanese\]\s/s, 3, /French - \[French\] \*/],
    ['Hls', /0 - audio Japanese .*3 - audio German .*audio English - \[English\] \*/s, 0, /audio Japanese .*\*/],
  ])('of %s is played by VLC, which offers the languages, switches and seeks', async (route, menu, place, chosen) => {
    const { media: url, hls } = await start('bframes.mp4');
    await using player = startVlc(`${route === 'Hls' ? `${hls}master.m3u8` : url}?audio=all`);
    await player.see('atrack', menu);
    await player.see(`atrack ${place}`, /\S/);
    await player.see('atrack', chosen);
    await player.see('seek 5', /\S/);
    await player.see('get_time', /^(?:> )*[5-8]\s*$/m);
  });
});
