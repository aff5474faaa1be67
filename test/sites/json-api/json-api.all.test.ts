import { both, delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const sites = useSite('json-api');

const peertubeUrl = (number: number) =>
  `https://peertube.cpy.re/videos/watch/00000000-0000-4000-8000-00000000000${number}`;
const LOOM = `https://www.loom.com/share/${'1'.padStart(32, '0')}`;
const BLUESKY = 'https://bsky.app/profile/did:plc:abcdefghijklmnopqrstuvwx/post/deleted';

describeSite('Sites that are asked by JSON', sites, [
  delivers('a video of PeerTube with its captions, which yt-dlp asks for separately', peertubeUrl(1), {
    ...both('360p'),
    subtitles: ['en', 'fr'],
  }),
  delivers('a recording of Loom with its captions, which yt-dlp asks for separately', LOOM, {
    ...both('http-cdn'),
    subtitles: ['en'],
  }),
  delivers(
    'a video of BitChute from the one of its hosts that has it',
    'https://www.bitchute.com/video/abcdefghijkl/',
    both('0'),
  ),
  refuses('a video that the body of a 403 calls private', peertubeUrl(2), /HTTP Error 403/, '415 private'),
  refuses('a video that does not exist', peertubeUrl(3), /HTTP Error 404/, '404 not-found'),
  refuses('a post that the body of a 400 calls deleted', BLUESKY, /HTTP Error 400/, '404 not-found'),
]);
