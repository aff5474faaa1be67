import { describe, expect, it } from 'vitest';
import { describeSite, streamEntries } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createX } from './x.ts';

const x = useSite(await createX());

const postUrl = (id: number) => `https://x.com/someone/status/${id}`;

describeSite('X', x, [
  {
    title: 'delivers a video as files and as HLS with its sound apart',
    url: postUrl(101),
    delivers: {
      ytDlp: ['hls-300', 'hls-audio-128000-Audio', 'http-256', 'http-832'],
      video: ['http-832', 'hls-300+hls-audio-128000-Audio', 'http-256'],
      audio: ['hls-audio-128000-Audio'],
    },
  },
  {
    title: 'delivers the second video of a post',
    url: `${postUrl(102)}/video/2`,
    delivers: { ytDlp: ['http-832'], video: ['http-832'], audio: ['http-832'] },
  },
  {
    title: 'delivers an animated picture',
    url: postUrl(103),
    delivers: { ytDlp: ['http'], video: ['http'], audio: [] },
  },
  {
    title: 'delivers a video that the API does not hand out to a client that asks too much',
    url: postUrl(104),
    delivers: { ytDlp: ['http-256', 'http-832'], video: ['http-832', 'http-256'], audio: ['http-832', 'http-256'] },
  },
  {
    title: 'refuses what needs proof of age',
    url: postUrl(201),
    refuses: { ytDlp: /NSFW tweet/, status: 415, type: 'age' },
  },
  {
    title: 'refuses a protected post',
    url: postUrl(202),
    refuses: { ytDlp: /protected tweet/, status: 415, type: 'private' },
  },
  {
    title: 'refuses a deleted post',
    url: postUrl(203),
    refuses: { ytDlp: /deleted by the Post author/, status: 404, type: 'gone' },
  },
  {
    title: 'refuses a post for adults',
    url: postUrl(204),
    refuses: { ytDlp: /Age-restricted/, status: 415, type: 'age' },
  },
  {
    title: 'refuses a client that asks too much',
    url: postUrl(205),
    refuses: { ytDlp: /HTTP Error 429/, status: 502, type: 'rate-limited' },
  },
  {
    title: 'refuses a post without a video',
    url: postUrl(206),
    refuses: { ytDlp: /No video could be found/, status: 404, type: 'no-media' },
  },
]);

describe('X', () => {
  it('delivers all videos of a post as a list', async () => {
    const { body } = await x.resolve(postUrl(102));
    const titles = body.mediaItems?.map(({ title }) => title);
    expect({ type: body.type, titles, streams: await streamEntries(x, postUrl(102)) }).toEqual({
      type: 'PlayList',
      titles: ['Someone - A post #1', 'Someone - A post #2'],
      streams: ['http-832', 'http-832'],
    });
  });
});
