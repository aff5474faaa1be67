import { delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const reddit = useSite('reddit');

const postUrl = (id: string) => `https://www.reddit.com/r/videos/comments/${id}/a_post/`;
const ALL = {
  ytDlp: ['dash-1', 'dash-2', 'dash-3', 'fallback', 'hls-0-audio_0', 'hls-264'],
  // The fallback is the same file as dash-1.
  video: ['fallback+dash-3', 'fallback+dash-3', 'dash-2+dash-3', 'hls-264+hls-0-audio_0'],
  audio: ['dash-3', 'hls-0-audio_0'],
};
const SILENT = {
  ytDlp: ['dash-1', 'dash-2', 'fallback', 'hls-264'],
  video: ['fallback', 'fallback', 'dash-2', 'hls-264'],
};

describeSite('Reddit', reddit, [
  delivers('a video with its sound in another file', postUrl('video1'), ALL),
  delivers('a link that the app shares', 'https://www.reddit.com/r/videos/s/shared', SILENT),
  delivers('the link of a video itself', 'https://v.redd.it/direct', SILENT),
  delivers('a video in a text', postUrl('embeds'), {
    ytDlp: ['hls-0-audio_0', 'hls-264'],
    video: ['hls-264+hls-0-audio_0'],
    audio: ['hls-0-audio_0'],
  }),
  delivers('a file of another site', postUrl('linked'), { ytDlp: ['mp4'], video: ['mp4'] }),
  delivers('a video without sound', postUrl('silent'), SILENT),
  refuses('a post of a private subreddit', postUrl('hidden'), /Private subreddit/, '415 private'),
  refuses('a post of a quarantined subreddit', postUrl('gated1'), /Quarantined subreddit/, '415 login'),
  refuses('a post of a banned subreddit', postUrl('banned'), /HTTP Error 404/, '404 not-found'),
  refuses('an address that has to log in', postUrl('robots'), /Account authentication is required/, '415 login'),
  refuses('a client that asks too much', postUrl('limits'), /HTTP Error 429/, '502 rate-limited'),
  refuses('a post without media', postUrl('words1'), /No media found/, '404 no-media'),
]);
