import { delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const HLS = { ytDlp: ['180p__source_', 'Audio_Only'], video: ['180p__source_'], audio: ['Audio_Only'] };
const siteUrl = (path: string) => `https://www.twitch.tv/${path}`;
const twitch = useSite('twitch');

describeSite('Twitch', twitch, [
  delivers('a recording with an advertisement', siteUrl('videos/100'), HLS),
  delivers('a live stream with an advertisement', siteUrl('onair'), HLS),
  delivers('a clip, whose media URLs are signed', siteUrl('onair/clip/PlainClip'), {
    ytDlp: ['180', '360'],
    video: ['360', '180'],
    audio: ['360', '180'],
  }),
  refuses('a recording for subscribers', siteUrl('videos/200'), /subscriber-only/, '415 members'),
  refuses('another region', siteUrl('videos/300'), /geoblocked/, '415 region'),
  refuses('a recording that does not exist', siteUrl('videos/999'), /does not exist/, '404 not-found'),
  refuses('a channel that is not live', siteUrl('offair'), /not currently live/, '404 not-started'),
  refuses('a channel that does not exist', siteUrl('noone'), /does not exist/, '404 not-found'),
  refuses('a removed clip', siteUrl('onair/clip/Removed'), /no longer available/, '404 gone'),
]);
