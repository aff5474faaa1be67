import { describeSite } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createReddit, postUrl } from './reddit.ts';

const reddit = useSite(await createReddit());

const ALL = {
  ytDlp: ['dash-1', 'dash-2', 'dash-3', 'fallback', 'hls-0-audio_0', 'hls-264'],
  // The fallback is the same file as dash-1.
  video: ['fallback+dash-3', 'fallback+dash-3', 'dash-2+dash-3', 'hls-264+hls-0-audio_0'],
  audio: ['dash-3', 'hls-0-audio_0'],
};
const SILENT = {
  ytDlp: ['dash-1', 'dash-2', 'fallback', 'hls-264'],
  video: ['fallback', 'fallback', 'dash-2', 'hls-264'],
  audio: [],
};

describeSite('Reddit', reddit, [
  {
    title: 'delivers a video with its sound in another file',
    url: postUrl('video1'),
    delivers: ALL,
  },
  { title: 'delivers a link that the app shares', url: 'https://www.reddit.com/r/videos/s/shared', delivers: SILENT },
  { title: 'delivers the link of a video itself', url: 'https://v.redd.it/direct', delivers: SILENT },
  {
    title: 'delivers a video in a text',
    url: postUrl('embeds'),
    delivers: {
      ytDlp: ['hls-0-audio_0', 'hls-264'],
      video: ['hls-264+hls-0-audio_0'],
      audio: ['hls-0-audio_0'],
    },
  },
  {
    title: 'delivers a file of another site',
    url: postUrl('linked'),
    delivers: { ytDlp: ['mp4'], video: ['mp4'], audio: [] },
  },
  {
    title: 'delivers a video without sound',
    url: postUrl('silent'),
    delivers: SILENT,
  },
  {
    title: 'refuses a post of a private subreddit',
    url: postUrl('hidden'),
    refuses: { ytDlp: /Private subreddit/, status: 415, type: 'private' },
  },
  {
    title: 'refuses a post of a quarantined subreddit',
    url: postUrl('gated1'),
    refuses: { ytDlp: /Quarantined subreddit/, status: 415, type: 'login' },
  },
  {
    title: 'refuses a post of a banned subreddit',
    url: postUrl('banned'),
    refuses: { ytDlp: /HTTP Error 404/, status: 404, type: 'not-found' },
  },
  {
    title: 'refuses an address that has to log in',
    url: postUrl('robots'),
    refuses: { ytDlp: /Account authentication is required/, status: 415, type: 'login' },
  },
  {
    title: 'refuses a client that asks too much',
    url: postUrl('limits'),
    refuses: { ytDlp: /HTTP Error 429/, status: 502, type: 'rate-limited' },
  },
  {
    title: 'refuses a post without media',
    url: postUrl('words1'),
    refuses: { ytDlp: /No media found/, status: 404, type: 'no-media' },
  },
]);
