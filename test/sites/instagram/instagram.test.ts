import { expect, it } from 'vitest';
import { ytDlpWithCurlCffi } from '../../support/installed-tools.ts';
import { describeSite, type SiteCase, streamEntries } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createInstagram, type Shortcode } from './instagram.ts';

const instagram = useSite(await createInstagram(), { ytDlp: await ytDlpWithCurlCffi() });

const postUrl = (shortcode: Shortcode | 'Bunknownpos') => `https://www.instagram.com/p/${shortcode}/`;
const refuses = (
  title: string,
  shortcode: Parameters<typeof postUrl>[0],
  ytDlp: RegExp,
  status: number,
  type: string,
): SiteCase => ({ title: `refuses ${title}`, url: postUrl(shortcode), refuses: { ytDlp, status, type } });

describeSite('Instagram', instagram, [
  {
    title: 'delivers a video to a client that imitates a browser',
    url: postUrl('Bplainreel1'),
    delivers: {
      ytDlp: ['101', 'dash-a128', 'dash-v360'],
      video: ['dash-v360+dash-a128', '101'],
      audio: ['dash-a128'],
    },
  },
  refuses('what needs proof of age', 'Brestricted', /Restricted Video/, 415, 'age'),
  refuses('a removed post', 'Bremovedpos', /Post unavailable/, 404, 'gone'),
  refuses('a client that asks too much', 'Bthrottled1', /exceeded the rate-limit/, 502, 'rate-limited'),
  refuses('a picture', 'Bpicture001', /no video in this post/, 404, 'no-media'),
  refuses('a post that it shows to accounts only', 'Bunknownpos', /empty media response/, 415, 'login'),
]);

it('delivers the videos of a post as a list', async () => {
  const { body } = await instagram.resolve(postUrl('Bseveralvid'));
  expect(body.type).toBe('PlayList');
  expect(await streamEntries(instagram, postUrl('Bseveralvid'))).toEqual(['101', '101']);
});
