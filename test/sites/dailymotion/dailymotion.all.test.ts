import { expect, it } from 'vitest';
import { both, delivers, describeSite, refuses } from '../describe-site.ts';
import { recordedSite } from '../recorded-site.ts';
import { useSite } from '../use-site.ts';

const site = await recordedSite('dailymotion');
const dailymotion = useSite(site);
const withBrowser = useSite(site, { imitatesBrowser: true });

const HLS = both('hls-180');
const videoUrl = (id: string) => `https://www.dailymotion.com/video/${id}`;

describeSite('Dailymotion', dailymotion, [
  delivers('HLS, whose playlist needs a cookie of the API', videoUrl('xplain1'), HLS),
  refuses('a private video', videoUrl('xprivate1'), /is private/, '415 private'),
  refuses('a video with a password', videoUrl('xpassword1'), /password protected/, '415 private'),
  refuses('another region', videoUrl('xregion1'), /geo-restricted/, '415 region'),
  refuses('a removed video', videoUrl('xdeleted1'), /has been removed/, '404 gone'),
  refuses('a video that does not exist', videoUrl('xnothing1'), /not found/, '404 not-found'),
  refuses('a client whose handshake is not that of a browser', videoUrl('xblocked1'), /impersonat/, '415 refused'),
]);

describeSite('Dailymotion, asked by an imitated browser', withBrowser, [
  delivers('HLS, whose playlist is for browsers', videoUrl('xguarded1'), HLS),
  refuses('a browser too', videoUrl('xblocked1'), /No video formats found/, '415 refused'),
]);

it('delivers the same after its URLs have expired', async () => {
  const pathOf = async (id: string) => {
    const { body } = await dailymotion.resolve(videoUrl(id));
    return `/api/Stream/Media/${body.mediaItems?.[0]?.video?.renditions?.[0]?.key}`;
  };
  const before = await dailymotion.get(await pathOf('xplain1'));
  const refused = () => dailymotion.serviceRequests().filter(({ status }) => status === 403).length;
  const refusedBefore = refused();
  // It has the same media, of which nothing is in memory.
  const later = await pathOf('xlater1');
  site.set({ signature: 2 });
  expect(await dailymotion.get(later)).toMatchObject({ status: 200, body: before.body });
  expect(refused()).toBeGreaterThan(refusedBefore);
});
