import { expect, it } from 'vitest';
import { ytDlpWithCurlCffi } from '../../support/installed-tools.ts';
import { describeSite, type SiteCase, streamEntries } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createBandcamp } from './bandcamp.ts';

const bandcamp = useSite(await createBandcamp(), { ytDlp: await ytDlpWithCurlCffi() });

const trackUrl = (name: string) => `https://artist.bandcamp.com/track/${name}`;
const refuses = (title: string, name: string, ytDlp: RegExp, status: number, type: string): SiteCase => ({
  title: `refuses ${title}`,
  url: trackUrl(name),
  refuses: { ytDlp, status, type },
});

describeSite('Bandcamp', bandcamp, [
  {
    title: 'delivers a track',
    url: trackUrl('plain'),
    delivers: { ytDlp: ['mp3-128'], video: [], audio: ['mp3-128'] },
  },
  {
    title: 'delivers the files of a track that costs nothing',
    url: trackUrl('free'),
    delivers: {
      ytDlp: ['aac-hi', 'flac', 'mp3-128', 'mp3-v0', 'vorbis'],
      video: [],
      audio: ['flac', 'vorbis', 'aac-hi', 'mp3-v0', 'mp3-128'],
    },
  },
  {
    title: 'delivers a radio show',
    url: 'https://bandcamp.com/radio?show=224',
    delivers: { ytDlp: ['mp3-128'], video: [], audio: ['mp3-128'] },
  },
  refuses('a track before its release', 'unreleased', /No video formats found/, 404, 'no-media'),
  refuses('a removed track', 'removed', /HTTP Error 404/, 404, 'not-found'),
  refuses('a client that asks too much', 'limited', /HTTP Error 429/, 502, 'rate-limited'),
]);

it('delivers the tracks of an album that have sound as a list', async () => {
  const album = 'https://artist.bandcamp.com/album/album';
  const { body } = await bandcamp.resolve(album);
  expect(body).toMatchObject({ type: 'PlayList', title: 'Album' });
  expect(body.mediaItems?.map(({ title }) => title)).toEqual(['Artist - Plain', 'Artist - Free']);
  expect(await streamEntries(bandcamp, album)).toEqual(['mp3-128', 'flac']);
});
