import { describeSite, type SiteCase } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createTwitch } from './twitch.ts';

const twitch = useSite(await createTwitch());

const refuses = (title: string, path: string, ytDlp: RegExp, status: number, type: string): SiteCase => ({
  title: `refuses ${title}`,
  url: `https://www.twitch.tv/${path}`,
  refuses: { ytDlp, status, type },
});

describeSite('Twitch', twitch, [
  {
    title: 'delivers a recording with an advertisement',
    url: 'https://www.twitch.tv/videos/100',
    delivers: { ytDlp: ['180p__source_', 'Audio_Only'], video: ['180p__source_'], audio: ['Audio_Only'] },
  },
  {
    title: 'delivers a live stream with an advertisement',
    url: 'https://www.twitch.tv/onair',
    delivers: { ytDlp: ['180p__source_', 'Audio_Only'], video: ['180p__source_'], audio: ['Audio_Only'] },
  },
  {
    title: 'delivers a clip, whose media URLs are signed',
    url: 'https://www.twitch.tv/onair/clip/PlainClip',
    delivers: { ytDlp: ['180', '360'], video: ['360', '180'], audio: ['360', '180'] },
  },
  refuses('a recording for subscribers', 'videos/200', /subscriber-only/, 415, 'members'),
  refuses('another region', 'videos/300', /geoblocked/, 415, 'region'),
  refuses('a recording that does not exist', 'videos/999', /does not exist/, 404, 'not-found'),
  refuses('a channel that is not live', 'offair', /not currently live/, 404, 'not-started'),
  refuses('a channel that does not exist', 'noone', /does not exist/, 404, 'not-found'),
  refuses('a removed clip', 'onair/clip/Removed', /no longer available/, 404, 'gone'),
]);
