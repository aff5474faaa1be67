import { expect, it } from 'vitest';
import { delivers, describeSite, refuses, streamEntries } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const bandcamp = useSite('bandcamp', { imitatesBrowser: true });

const trackUrl = (name: string) => `https://artist.bandcamp.com/track/${name}`;

describeSite('Bandcamp', bandcamp, [
  delivers('a track', trackUrl('plain'), { ytDlp: ['mp3-128'], audio: ['mp3-128'] }),
  delivers('the files of a track that costs nothing', trackUrl('free'), {
    ytDlp: ['aac-hi', 'flac', 'mp3-128', 'mp3-v0', 'vorbis'],
    audio: ['flac', 'vorbis', 'aac-hi', 'mp3-v0', 'mp3-128'],
  }),
  delivers('a radio show', 'https://bandcamp.com/radio?show=224', { ytDlp: ['mp3-128'], audio: ['mp3-128'] }),
  refuses('a track before its release', trackUrl('unreleased'), /No video formats found/, '404 no-media'),
  refuses('a removed track', trackUrl('removed'), /HTTP Error 404/, '404 not-found'),
  refuses('a client that asks too much', trackUrl('limited'), /HTTP Error 429/, '502 rate-limited'),
]);

it('delivers the tracks of an album that have sound as a list', async () => {
  const album = 'https://artist.bandcamp.com/album/album';
  const { body } = await bandcamp.resolve(album);
  expect(body).toMatchObject({ type: 'PlayList', title: 'Album' });
  expect(body.mediaItems?.map(({ title }) => title)).toEqual(['Artist - Plain', 'Artist - Free']);
  expect(await streamEntries(bandcamp, album)).toEqual(['mp3-128', 'flac']);
});
