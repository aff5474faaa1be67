import { delivers, describeSite, itDeliversList, refuses, sounds } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const bandcamp = useSite('bandcamp', { imitatesBrowser: true });

const trackUrl = (name: string) => `https://artist.bandcamp.com/track/${name}`;

describeSite('Bandcamp', bandcamp, [
  delivers('a track', trackUrl('plain'), sounds('mp3-128')),
  delivers(
    'the files of a track that costs nothing',
    trackUrl('free'),
    sounds('flac', 'vorbis', 'aac-hi', 'mp3-v0', 'mp3-128'),
  ),
  delivers('a radio show', 'https://bandcamp.com/radio?show=224', sounds('mp3-128')),
  refuses('a track before its release', trackUrl('unreleased'), /No video formats found/, '404 no-media'),
  refuses('a removed track', trackUrl('removed'), /HTTP Error 404/, '404 not-found'),
  refuses('a client that asks too much', trackUrl('limited'), /HTTP Error 429/, '502 rate-limited'),
]);

itDeliversList('the tracks of an album that have sound', bandcamp, 'https://artist.bandcamp.com/album/album', {
  title: 'Album',
  titles: ['Artist - Plain', 'Artist - Free'],
  streams: ['mp3-128', 'flac'],
});
