import { delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const vimeo = useSite('vimeo');

const playerUrl = (id: number) => `https://player.vimeo.com/video/${id}`;

const ALL = {
  ytDlp: ['dash-akfire-0', 'dash-akfire-1', 'hls-akfire-350', 'hls-akfire-audio-high-Original', 'http-360p'],
  video: ['dash-akfire-0+hls-akfire-audio-high-Original', 'http-360p', 'hls-akfire-350+hls-akfire-audio-high-Original'],
  // yt-dlp rates the name "high", and knows nothing of the other one.
  audio: ['hls-akfire-audio-high-Original', 'dash-akfire-1'],
};

describeSite('Vimeo', vimeo, [
  delivers('a video from its player', playerUrl(101), ALL),
  delivers('a video to the page that embeds it', 'https://embedder.example/page/102', ALL),
  refuses('the same video elsewhere', playerUrl(102), /embed-only video/, '415 refused'),
  refuses(
    'a page that is for those who are logged in',
    'https://vimeo.com/101',
    /only works when logged-in/,
    '415 login',
  ),
  refuses('a video with a password', playerUrl(201), /protected by a password/, '415 private'),
  refuses('what has not begun', playerUrl(202), /No video formats found|will begin/, '404 not-started'),
  refuses('a blocked address', playerUrl(203), /your IP may be blocked/, '415 bot-check'),
  refuses('a removed video', playerUrl(299), /HTTP Error 404/, '404 not-found'),
]);
