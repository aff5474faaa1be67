import { describeSite } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createVimeo } from './vimeo.ts';

const vimeo = useSite(await createVimeo());

const playerUrl = (id: number) => `https://player.vimeo.com/video/${id}`;

const ALL = {
  ytDlp: ['dash-akfire-0', 'dash-akfire-1', 'hls-akfire-350', 'hls-akfire-audio-high-Original', 'http-360p'],
  video: ['dash-akfire-0+hls-akfire-audio-high-Original', 'http-360p', 'hls-akfire-350+hls-akfire-audio-high-Original'],
  // yt-dlp rates the name "high", and knows nothing of the other one.
  audio: ['hls-akfire-audio-high-Original', 'dash-akfire-1'],
};

describeSite('Vimeo', vimeo, [
  {
    title: 'delivers a video from its player',
    url: playerUrl(101),
    delivers: ALL,
  },
  {
    title: 'delivers a video to the page that embeds it',
    url: 'https://embedder.example/page/102',
    delivers: ALL,
  },
  {
    title: 'refuses the same video elsewhere',
    url: playerUrl(102),
    refuses: { ytDlp: /embed-only video/, status: 415, type: 'refused' },
  },
  {
    title: 'refuses a page that is for those who are logged in',
    url: 'https://vimeo.com/101',
    refuses: { ytDlp: /only works when logged-in/, status: 415, type: 'login' },
  },
  {
    title: 'refuses a video with a password',
    url: playerUrl(201),
    refuses: { ytDlp: /protected by a password/, status: 415, type: 'private' },
  },
  {
    title: 'refuses what has not begun',
    url: playerUrl(202),
    refuses: { ytDlp: /No video formats found|will begin/, status: 404, type: 'not-started' },
  },
  {
    title: 'refuses a blocked address',
    url: playerUrl(203),
    refuses: { ytDlp: /your IP may be blocked/, status: 415, type: 'bot-check' },
  },
  {
    title: 'refuses a removed video',
    url: playerUrl(299),
    refuses: { ytDlp: /HTTP Error 404/, status: 404, type: 'not-found' },
  },
]);
