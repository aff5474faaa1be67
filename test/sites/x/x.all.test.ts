import { both, delivers, describeSite, itDeliversList, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const x = useSite('x');

const postUrl = (id: number) => `https://x.com/someone/status/${id}`;

describeSite('X', x, [
  delivers('a video as files and as HLS with its sound apart', postUrl(101), {
    ytDlp: ['hls-300', 'hls-audio-128000-Audio', 'http-256', 'http-832'],
    video: ['http-832', 'hls-300+hls-audio-128000-Audio', 'http-256'],
    audio: ['hls-audio-128000-Audio'],
  }),
  delivers('the second video of a post', `${postUrl(102)}/video/2`, both('http-832')),
  delivers('an animated picture', postUrl(103), { ytDlp: ['http'], video: ['http'] }),
  delivers('a video that the API does not hand out to a client that asks too much', postUrl(104), {
    ytDlp: ['http-256', 'http-832'],
    video: ['http-832', 'http-256'],
    audio: ['http-832', 'http-256'],
  }),
  refuses('what needs proof of age', postUrl(201), /NSFW tweet/, '415 age'),
  refuses('a protected post', postUrl(202), /protected tweet/, '415 private'),
  refuses('a deleted post', postUrl(203), /deleted by the Post author/, '404 gone'),
  refuses('a post for adults', postUrl(204), /Age-restricted/, '415 age'),
  refuses('a client that asks too much', postUrl(205), /HTTP Error 429/, '502 rate-limited'),
  refuses('a post without a video', postUrl(206), /No video could be found/, '404 no-media'),
]);

itDeliversList('all videos of a post', x, postUrl(102), {
  titles: ['Someone - A post #1', 'Someone - A post #2'],
  streams: ['http-832', 'http-832'],
});
