import { delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { BITCHUTE, blueskyPost, createJsonApi, LOOM, loomId, PEERTUBE, uuidOf } from './json-api.ts';

const sites = useSite(await createJsonApi());

describeSite('Sites that are asked by JSON', sites, [
  delivers('a video of PeerTube with its captions, which yt-dlp asks for separately', `${PEERTUBE}/${uuidOf(1)}`, {
    ytDlp: ['360p'],
    video: ['360p'],
    audio: ['360p'],
    subtitles: ['en', 'fr'],
  }),
  delivers('a recording of Loom with its captions, which yt-dlp asks for separately', `${LOOM}/${loomId(1)}`, {
    ytDlp: ['http-cdn'],
    video: ['http-cdn'],
    audio: ['http-cdn'],
    subtitles: ['en'],
  }),
  delivers('a video of BitChute from the one of its hosts that has it', `${BITCHUTE}/abcdefghijkl/`, {
    ytDlp: ['0'],
    video: ['0'],
    audio: ['0'],
  }),
  refuses('a video that the body of a 403 calls private', `${PEERTUBE}/${uuidOf(2)}`, /HTTP Error 403/, '415 private'),
  refuses('a video that does not exist', `${PEERTUBE}/${uuidOf(3)}`, /HTTP Error 404/, '404 not-found'),
  refuses('a post that the body of a 400 calls deleted', blueskyPost('deleted'), /HTTP Error 400/, '404 not-found'),
]);
