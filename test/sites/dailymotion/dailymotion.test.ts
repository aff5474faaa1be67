import { expect, it } from 'vitest';
import { ytDlpWithCurlCffi } from '../../support/installed-tools.ts';
import { describeSite, type SiteCase } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { createDailymotion } from './dailymotion.ts';

const site = await createDailymotion();
const dailymotion = useSite(site);
const withBrowser = useSite(site, { ytDlp: await ytDlpWithCurlCffi() });

const videoUrl = (id: string) => `https://www.dailymotion.com/video/${id}`;
const refuses = (title: string, id: string, ytDlp: RegExp, status: number, type: string): SiteCase => ({
  title: `refuses ${title}`,
  url: videoUrl(id),
  refuses: { ytDlp, status, type },
});

describeSite('Dailymotion', dailymotion, [
  {
    title: 'delivers HLS, whose playlist needs a cookie of the API',
    url: videoUrl('xplain1'),
    delivers: { ytDlp: ['hls-180'], video: ['hls-180'], audio: ['hls-180'] },
  },
  refuses('a private video', 'xprivate1', /is private/, 415, 'private'),
  refuses('a video with a password', 'xpassword1', /password protected/, 415, 'private'),
  refuses('another region', 'xregion1', /geo-restricted/, 415, 'region'),
  refuses('a removed video', 'xdeleted1', /has been removed/, 404, 'gone'),
  refuses('a video that does not exist', 'xnothing1', /not found/, 404, 'not-found'),
  refuses('a client whose handshake is not that of a browser', 'xblocked1', /impersonat/, 415, 'refused'),
]);

describeSite('Dailymotion, asked by an imitated browser', withBrowser, [
  {
    title: 'delivers HLS, whose playlist is for browsers',
    url: videoUrl('xguarded1'),
    delivers: { ytDlp: ['hls-180'], video: ['hls-180'], audio: ['hls-180'] },
  },
  refuses('a browser too', 'xblocked1', /No video formats found/, 415, 'refused'),
]);

it('delivers the same after its URLs have expired', async () => {
  const { body } = await dailymotion.resolve(videoUrl('xplain1'));
  const path = `/api/Stream/Media/${body.mediaItems?.[0]?.video?.renditions?.[0]?.key}`;
  const before = await dailymotion.get(path);
  const refused = () => dailymotion.serviceRequests().filter(({ status }) => status === 403).length;
  const refusedBefore = refused();
  site.expire();
  expect(await dailymotion.get(path)).toMatchObject({ status: 200, body: before.body });
  expect(refused()).toBeGreaterThan(refusedBefore);
});
