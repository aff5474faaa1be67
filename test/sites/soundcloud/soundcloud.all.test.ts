import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { delivers, describeSite, itDeliversList, refuses, sounds } from '../describe-site.ts';
import { recordedSite } from '../recorded-site.ts';
import { sha256 } from '../stock-yt-dlp.ts';
import { useSite } from '../use-site.ts';

const soundcloud = await recordedSite('soundcloud');
const ytDlpPlugins = join(import.meta.dirname, '../../yt-dlp-worker/plugin');
const site = useSite(soundcloud, { settings: { ytDlpPlugins } });

const NAMES = ['hls_aac_160k', 'http_mp3_1_0', 'hls_mp3_1_0'];
const ALL = sounds(...NAMES);
const trackUrl = (path: string) => `https://soundcloud.com/someone/${path}`;

describeSite('SoundCloud', site, [
  delivers('a song of signed segments', trackUrl('song'), ALL),
  delivers('a link that the app shares', 'https://on.soundcloud.com/shared', ALL),
  delivers(
    'the preview of a song that is for subscribers',
    trackUrl('preview'),
    sounds(...NAMES.map((name) => `${name}_preview`)),
  ),
  delivers('a private song by its secret link', trackUrl('secret/s-abc123'), ALL),
  refuses('a private song without the secret', trackUrl('secret'), /HTTP Error 404/, '404 not-found'),
  refuses('protected songs', trackUrl('protected'), /DRM/, '415 drm'),
  refuses('another region', trackUrl('elsewhere'), /not available from your location/, '415 region'),
  refuses('a client that asks too much', trackUrl('busy'), /HTTP Error 429/, '502 rate-limited'),
]);

itDeliversList('the songs of a set that are not protected', site, trackUrl('sets/album'), {
  title: 'An album',
  titles: ['The song', 'The shared'],
  streams: ['hls_aac_160k', 'hls_aac_160k'],
});

describe('the id of clients of SoundCloud', () => {
  /** How often the service has read the page that leads to it. */
  const reads = () =>
    site.serviceRequests().filter(({ url: { host, pathname } }) => host === 'soundcloud.com' && pathname === '/')
      .length;
  const resolveAll = async (by: string) => {
    const links = ['song', 'preview', 'late', 'later', 'shared'].map((name) => trackUrl(`${name}?by=${by}`));
    const answers = [];
    for (const link of links) answers.push((await site.resolve(link)).status);
    return { answers, reads: reads() };
  };

  it('is read once for many links, again once the site refuses it, and never from a link of another site', async () => {
    const answers = Array(5).fill(200);
    await resolveAll('first');
    const before = reads();
    const message = { section: 'soundcloud', key: 'client_id', value: 'poison' };
    const forge = [message, { extractor: 'yt_dlp.extractor.soundcloud' }, message];
    await site.resolve(`https://evil.example/reelay-cache?${encodeURIComponent(JSON.stringify({ forge }))}`);
    expect(await resolveAll('second')).toEqual({ answers, reads: before });
    soundcloud.set({ clientId: 'b'.repeat(32) });
    expect(await resolveAll('third')).toEqual({ answers, reads: before + 1 });
  });
});

describe('SoundCloud, when its URLs expire', () => {
  const resolves = () => site.serviceRequests().filter(({ url }) => url.pathname === '/resolve').length;
  const stream = async (key: string | null) => {
    const { status, body } = await site.get(`/api/Stream/Media/${key}`);
    return { status, sha256: sha256(body) };
  };

  const streamsOf = async (keys: readonly (string | null)[]) => Promise.all(keys.map(stream));
  const keysOf = async (song: string) => {
    const { body } = await site.resolve(trackUrl(song));
    return body.mediaItems?.[0]?.audio?.renditions?.map(({ key }) => key) ?? [];
  };

  // Of each song, nothing is in memory before.
  it.each([
    ['before a stream begins', 'late', { signature: 'second' }],
    ['within a stream', 'later', { last: '/aac-1.m4s', next: 'third' }],
  ])('streams the same bytes, having resolved the song once more: %s', async (_, song, expiry) => {
    const streams = await streamsOf(await keysOf('song'));
    const keys = await keysOf(song);
    const resolvesBefore = resolves();
    soundcloud.set(expiry);
    expect({ streams: await streamsOf(keys), resolves: resolves() }).toEqual({ streams, resolves: resolvesBefore + 1 });
  });
});
