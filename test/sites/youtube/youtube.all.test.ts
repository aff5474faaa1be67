import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { MediaDetails } from '../../../clients/reelay-client/src/api-types.ts';
import { both, delivers, describeSite, refuses } from '../describe-site.ts';
import { sha256 } from '../stock-yt-dlp.ts';
import { useSite } from '../use-site.ts';
import { ALL, createYoutube, watchUrl } from './youtube.ts';

const site = await createYoutube();
const youtube = useSite(site);

describeSite('YouTube', youtube, [
  delivers('a video', watchUrl('plainplain1'), ALL),
  delivers('a video with captions', watchUrl('captionscc1'), { ...ALL, subtitles: ['en'] }),
  delivers('a video whose URLs have challenges', watchUrl('challenged1'), ALL),
  delivers('another one', watchUrl('challenged2'), ALL),
  delivers('dubs and compressed sound', watchUrl('dubsdubsdub'), {
    ytDlp: ['134', '136', '140-0', '140-1', '140-2', '140-drc', '18'],
    video: ['136+140-2', '18', '134+140-2'],
    audio: ['140-2'],
  }),
  delivers('what can be had whole without a token', watchUrl('gatedgated1'), {
    ytDlp: ['18'],
    video: ['18', '502 /problems/refused'],
    audio: ['502 /problems/refused'],
    errors: /^(unable to download video data: HTTP Error 403: Forbidden\n?){2}$/,
  }),
  delivers('media that is bound to an address', watchUrl('boundbound1'), ALL),
  delivers('media that waits for an advertisement', watchUrl('prerollwait'), ALL),
  refuses('a bot', watchUrl('botcheckbot'), /confirm you’re not a bot/, '415 bot-check'),
  refuses('what needs proof of age', watchUrl('agecheckage'), /confirm your age/, '415 age'),
  refuses('a private video', watchUrl('privatepriv'), /Private video/, '415 private'),
  refuses('a removed video', watchUrl('removedgone'), /removed by the uploader/, '404 gone'),
  refuses('what is for members', watchUrl('membersonly'), /members-only/, '415 members'),
  refuses('a rental', watchUrl('rentalrent1'), /requires payment/, '415 payment'),
  refuses('another region', watchUrl('regionblock'), /available in your country/, '415 region'),
  refuses('a client that asks too much', watchUrl('ratelimited'), /try again later/, '502 rate-limited'),
  refuses('too many player calls', watchUrl('api429api42'), /No video formats found/, '502 rate-limited'),
  refuses('forbidden player calls', watchUrl('api403api40'), /No video formats found/, '415 refused'),
  refuses('a premiere', watchUrl('premierelat'), /Premieres in 3 hours/, '404 not-started'),
  refuses(
    'formats that only the page can play',
    watchUrl('sabronlysab'),
    /No video formats|format is not available/,
    '502 site-changed',
  ),
]);

it('requests the script of the player once for the challenges of two videos', () => {
  const requested = youtube.serviceRequests().filter(({ url }) => url.pathname.startsWith('/s/player/'));
  expect(requested).toHaveLength(1);
});

// By default, yt-dlp has FFmpeg turn such a stream into a file of the type that its name says.
describeSite(
  'YouTube',
  youtube,
  [delivers('a live stream', watchUrl('livelivelil'), both('94'))],
  ['--fixup', 'detect_or_warn'],
);

const playerCalls = (id: string) =>
  youtube
    .serviceRequests()
    .filter(({ url, body }) => url.pathname.endsWith('/player') && JSON.parse(body).videoId === id);
const mediaRequests = (id: string) => youtube.serviceRequests().filter(({ url }) => url.searchParams.get('id') === id);

it('waits once for an advertisement, with few requests', () => {
  expect(mediaRequests('prerollwait').length).toBeGreaterThan(0);
  expect(mediaRequests('prerollwait').filter(({ status }) => status === 403).length).toBeLessThanOrEqual(1);
  expect(playerCalls('prerollwait').length).toBeLessThanOrEqual(2);
});

it('streams the original sound rather than a dub', async () => {
  const { body } = await youtube.resolve(watchUrl('dubsdubsdub'));
  const best = await youtube.get(`/api/Stream/Media/${body.mediaItems[0]?.audio?.bestQualityKey}`);
  expect(sha256(best.body)).toBe(sha256(await readFile(join(site.mediaDir, '140.m4a'))));
});

it('lists dubs and compressed sound in the details, and streams them', async () => {
  const link = encodeURIComponent(watchUrl('dubsdubsdub'));
  const { audio } = JSON.parse(
    (await youtube.get(`/api/Fetch/GetDetails?url=${link}`)).body.toString(),
  ) as MediaDetails;
  expect(audio.filter(({ isDubbed, isDrc, isDescriptive }) => isDubbed || isDrc || isDescriptive)).toHaveLength(3);
  for (const { key } of audio) expect((await youtube.get(`/api/Stream/Media/${key}`)).status).toBe(200);
});

it('continues with new URLs when those of a resolve have expired', async () => {
  const { body } = await youtube.resolve(watchUrl('expiresoon1'));
  // Releases of yt-dlp differ in how many clients they ask.
  const calls = playerCalls('expiresoon1').length;
  site.set({ generation: 2 });
  const { status, body: bytes } = await youtube.get(`/api/Stream/Media/${body.mediaItems[0]?.audio?.bestQualityKey}`);
  expect(status).toBe(200);
  expect(sha256(bytes)).toBe(sha256(await readFile(join(site.mediaDir, '251.webm'))));
  expect(playerCalls('expiresoon1')).toHaveLength(2 * calls);
});

it('offers the captions that yt-dlp downloads', async () => {
  const alone = await youtube.download([watchUrl('captionscc1')], ['--skip-download']);
  const [english] = alone.get(watchUrl('captionscc1'))?.subtitles ?? [];
  const cues = await readFile(english?.path ?? '', 'utf8');
  const link = encodeURIComponent(watchUrl('captionscc1'));
  const details = JSON.parse((await youtube.get(`/api/Fetch/GetDetails?url=${link}`)).body.toString());
  expect(details).toMatchObject({ chapters: [{ title: 'Start' }, { title: 'Middle' }, { title: 'End' }] });
  expect(details.subtitles).toMatchObject([{ language: 'en', name: 'English', isAutomatic: false }]);
  const { body } = await youtube.get(`/api/Stream/Subtitle/${details.subtitles[0].key}`);
  expect(body.toString().trim()).toBe(cues.trim());
});

it('keeps the entries of a list that may be had later', async () => {
  const list = 'https://www.youtube.com/playlist?list=PLlist';
  const alone = (await youtube.download([list], ['--format', '18'])).get(list);
  expect(alone?.formats.map(({ path }) => basename(dirname(path)))).toEqual([
    'plainplain1',
    'captionscc1',
    'dubsdubsdub',
  ]);
  const { body } = await youtube.resolve(list);
  expect(body.type).toBe('PlayList');
  const offered = body.mediaItems.map(({ requestedUrl, video }) => [requestedUrl, video !== undefined]);
  expect(offered).toEqual([
    [watchUrl('plainplain1'), true],
    [watchUrl('botcheckbot'), false],
    [watchUrl('captionscc1'), true],
    [watchUrl('dubsdubsdub'), true],
  ]);
});
