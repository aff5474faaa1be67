import { delivers, describeSite, itDeliversList, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';

const instagram = useSite('instagram', { imitatesBrowser: true });

const postUrl = (shortcode: string) => `https://www.instagram.com/p/${shortcode}/`;

describeSite('Instagram', instagram, [
  delivers('a video to a client that imitates a browser', postUrl('Bplainreel1'), {
    ytDlp: ['101', 'dash-a128', 'dash-v360'],
    video: ['dash-v360+dash-a128', '101'],
    audio: ['dash-a128'],
  }),
  refuses('what needs proof of age', postUrl('Brestricted'), /Restricted Video/, '415 age'),
  refuses('a removed post', postUrl('Bremovedpos'), /Post unavailable/, '404 gone'),
  refuses('a client that asks too much', postUrl('Bthrottled1'), /exceeded the rate-limit/, '502 rate-limited'),
  refuses('a picture', postUrl('Bpicture001'), /no video in this post/, '404 no-media'),
  refuses('a post that it shows to accounts only', postUrl('Bunknownpos'), /empty media response/, '415 login'),
]);

itDeliversList('the videos of a post', instagram, postUrl('Bseveralvid'), { streams: ['101', '101'] });
