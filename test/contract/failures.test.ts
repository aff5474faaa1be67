import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';
import { ANY_INSTANCE, useTarget } from './target.ts';

const target = useTarget();
const GET_RESOURCE = '/api/Fetch/GetResource';
const TITLES = { 400: 'Bad Request', 404: 'Resource Not Found', 415: 'Unsupported Media Type', 502: 'Fetch Failed' };
const problemOf = (status: keyof typeof TITLES, name: string, detail?: unknown) => ({
  type: `/problems/${name}`,
  title: TITLES[status],
  status,
  ...(detail !== undefined && { detail }),
});

/** Expects a link to be answered by a problem. */
async function expectProblem(link: string, ...[status, ...more]: Parameters<typeof problemOf>) {
  const answer = await target.resolve(link);
  expect(answer.problem).toEqual(problemOf(status, ...more));
  expect(answer.status).toBe(status);
}

// Which links are malformed: lambdas/api/link-parameter.unit.
describe('missing or malformed link: 400', ANY_INSTANCE, () => {
  it.each([
    ['missing', ''],
    ['in another parameter', '?link=http://example.invalid/'],
    ['empty', '?url='],
    ['blank, form encoded', '?url=++'],
    ['words', '?url=never+gonna+give'],
    ['a search', '?url=ytsearch:cats'],
    ['the worker itself', '?url=reelay:fork'],
    ['file:', '?url=file:///etc/passwd'],
    ['rtmp:', '?url=rtmp://example.invalid/live'],
    ['an option', '?url=--exec=id'],
    ['4,097 characters', `?url=${'http://example.invalid/'.padEnd(4_097, 'x')}`],
    ['undecodable', '?url=%ZZ'],
    ['nothing in the first of two', '?url=&url=http://example.invalid/'],
  ])('%s', async (_, query) => {
    const answer = await target.get(GET_RESOURCE + query);
    expect(answer.status).toBe(400);
    expect(target.api.expectAnswer('GET', GET_RESOURCE, answer)).toEqual(problemOf(400, 'bad-url'));
  });
});

describe('accepted links', () => {
  it('unencoded, with a query', async () => {
    const answer = await target.get(`${GET_RESOURCE}?url=${target.origin.url('/files/clip.mp4?v=x')}`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body.toString()).mediaItems[0].requestedUrl).toBe(
      target.origin.url('/files/clip.mp4?v=x'),
    );
  });

  it('with userinfo, and a fragment that yt-dlp would parse', async () => {
    const { host } = target.origin;
    const smuggled = `#__youtubedl_smuggle=${encodeURIComponent('{"force_videoid":"x","referer":"http://evil.invalid/"}')}`;
    const link = `http://user:password@${host}/files/clip.mp4${smuggled}`;
    const { status, resource } = await target.resolve(link);
    expect(status).toBe(200);
    expect(resource.mediaItems[0]?.requestedUrl).toBe(link);
    const sent = target.origin.requestsTo('/files/clip.mp4');
    expect(sent.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([]);
    expect(sent.map(({ headers }) => headers.referer).filter((referer) => referer?.includes('evil'))).toEqual([]);
  });

  it('of up to 4,096 characters', async () => {
    const link = target.origin.url('/files/clip.mp4?').padEnd(4_096, 'x');
    expect((await target.get(`${GET_RESOURCE}?url=${link}`)).status).toBe(200);
  });

  it('the first of several url parameters', async () => {
    const [first, second] = ['/files/tone.mp3', '/files/clip.mp4'].map((path) =>
      encodeURIComponent(target.origin.url(path)),
    );
    const answer = await target.get(`${GET_RESOURCE}?url=${first}&url=${second}`);
    expect(JSON.parse(answer.body.toString()).mediaItems[0].requestedUrl).toBe(target.origin.url('/files/tone.mp3'));
  });
});

describe('link without media: 404', () => {
  it.each([
    ['/trouble/404', 'not-found'],
    ['/trouble/410', 'gone'],
    ['/site/status/404', 'not-found'],
    ['/plain/image', 'no-media'],
    ['/plain/image.jpg', 'no-media'],
    ['/plain/image-as-octets', 'no-media'],
    ['/plain/image-as-video', 'no-media'],
    ['/plain/json', 'no-media'],
    ['/plain/data.json', 'no-media'],
    ['/plain/zip', 'no-media'],
    ['/plain/archive.zip', 'no-media'],
    ['/plain/text', 'no-media'],
    ['/plain/empty', 'no-media'],
    ['/plain/empty-video', 'no-media'],
    ['/plain/empty-page', 'no-media'],
    ['/plain/noise', 'no-media'],
    ['/pages/dead-video', 'not-found'],
    ['/feeds/empty.xml', 'no-media'],
    ['/hls/empty.m3u8', 'no-media'],
    ['/site/list/empty?n=0', 'no-media'],
    ['/site/upcoming/x', 'not-started'],
    ['/site/premiere/x', 'not-started'],
    ['/site/not-live/x', 'not-started'],
    ['/site/ended/x', 'ended'],
    ['/site/nothing/x', 'no-media'],
    ['/site/gone/x', 'gone'],
    ['/site/no-formats/x', 'not-found'],
  ])('%s is %s', (link, name) => expectProblem(link, 404, name));
});

describe('link of an unknown host: 404', ANY_INSTANCE, () => {
  it.each(['nowhere.invalid', 'no..where.invalid', `${'x'.repeat(64)}.invalid`])('%s', async (host) => {
    for (const scheme of ['http', 'https']) await expectProblem(`${scheme}://${host}/video`, 404, 'unknown-host');
  });
});

describe('undeliverable media: 415 with the reason', () => {
  it.each([
    ['/site/drm/x', 'drm', /protected|DRM/i],
    ['/site/all-drm/x', 'drm', /protected|DRM/i],
    ['/hls/drm.m3u8', 'drm', /protected|DRM/i],
    ['/dash/drm/manifest.mpd', 'drm', /protected|DRM/i],
    ['/site/login/x', 'members', /refuse.*member/i],
    ['/site/private/x', 'private', /refuse.*private/i],
    ['/site/geo/x', 'region', /refuse.*region/i],
    ['/site/bot/x', 'bot-check', /refuse.*bot/i],
    ['/site/age/x', 'age', /refuse.*age/i],
    ['/site/members/x', 'members', /refuse.*member/i],
    ['/site/rental/x', 'payment', /refuse.*paid/i],
    ['/trouble/401', 'login', /refuse.*login/i],
    ['/trouble/403', 'refused', /refuse/i],
    ['/trouble/451', 'region', /refuse.*region/i],
    ['/site/status/403', 'refused', /refuse/i],
    ['/site/only-odd/x', 'unsupported', /not handled/i],
    ['/site/only-sabr/x', 'unsupported', /by SABR alone/],
    ['/pages/words', 'unsupported', /link|page/i],
  ])('%s is %s', (link, name, reason) => expectProblem(link, 415, name, expect.stringMatching(reason)));
});

describe('any other failure: 502', () => {
  it.each([
    ['/trouble/429', 'rate-limited'],
    ['/trouble/500', 'site-error'],
    ['/trouble/503', 'site-error'],
    ['/trouble/reset', 'site-error'],
    ['/trouble/short', 'site-error'],
    ['/trouble/garbage', 'site-error'],
    ['/redirects/loop', 'site-error'],
    ['/redirects/endless', 'site-error'],
    ['/site/status/500', 'site-error'],
    ['/site/rate-limit/x', 'rate-limited'],
    ['/site/refused-api/x', 'rate-limited'],
    ['/site/skipped/x', 'site-changed'],
    ['/site/bug/x', 'site-changed'],
    ['/site/puzzled/x', 'site-changed'],
    ['/site/exit/x', 'service-failed'],
    ['/site/kill/x', 'service-failed'],
  ])('%s is %s', (link, name) => expectProblem(link, 502, name));

  // What a killed fork and a forged response leave to the next link: test/faults/killed-processes, test/yt-dlp-worker/worker.
  it('answers within the deadline for a slow and a silent page, and a stuck extractor', async () => {
    const links = ['/trouble/drip', '/trouble/silence', '/site/sleep/x'];
    const answers = await Promise.all(links.map((link) => target.resolve(link)));
    expect(answers.map(({ status }) => status)).toEqual([502, 502, 502]);
  });

  it.each(['/site/memory/x', '/trouble/huge?again'])('exceeded limit: 415 for %s', (link) =>
    expectProblem(link, 415, 'too-large', 'This kind of link is not handled: what its source answers is too large.'),
  );
});

describe('private addresses', () => {
  let inside = '';
  let visits = 0;
  beforeAll(async () => {
    const trap = createServer((_, response) => {
      visits++;
      response.writeHead(200, { 'content-type': 'video/mp4' }).end('secret');
    });
    inside = closeAfterwards(await listen(trap)).host;
  });

  /** Resolves, then streams every rendition: none may have bytes of the private server. */
  async function follow(link: string): Promise<void> {
    const { status, resource } = await target.resolve(link);
    if (status === 200) {
      const references = resource.mediaItems.flatMap(({ video, audio }) => [video, audio]);
      for (const { key, urlType, convertTo } of references.flatMap((reference) => reference?.renditions ?? [])) {
        const stream = target.get(`/api/Stream/${urlType}/${key}${convertTo ? `?format=${convertTo}` : ''}`);
        const outcome = await stream.then(
          (answer) => answer.status,
          () => 'broken',
        );
        expect([404, 502, 'broken']).toContain(outcome);
      }
    } else expect([404, 502]).toContain(status);
    expect(visits).toBe(0);
  }

  it.each([
    'http://INSIDE/clip.mp4',
    'http://localhost:PORT/clip.mp4',
    'http://2130706433:PORT/clip.mp4',
    'http://0x7f.1:PORT/clip.mp4',
    'http://0177.0.0.1:PORT/clip.mp4',
    'http://[::ffff:127.0.0.1]:PORT/clip.mp4',
    'http://0.0.0.0:PORT/clip.mp4',
    'http://user@INSIDE/clip.mp4',
  ])('%s is a private address, and a name like one that does not resolve', async (pattern) => {
    const link = pattern.replace('INSIDE', inside).replace('PORT', inside.split(':')[1] ?? '');
    await expectProblem(link, 404, pattern.includes('localhost') ? 'unknown-host' : 'private-address');
    expect(visits).toBe(0);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://169.254.170.2/v2/credentials',
    'http://10.0.0.1/clip.mp4',
    'http://100.64.0.1/clip.mp4',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://[fe80::1]/clip.mp4',
    'http://[64:ff9b::7f00:1]/clip.mp4',
  ])('%s is never requested', ANY_INSTANCE, (link) => expectProblem(link, 404, 'private-address'));

  it.each(['redirect', 'video', 'playlist', 'segment', 'key', 'mpd'])('in a %s are never requested', async (way) => {
    await follow(`/inward/${way}?to=${encodeURIComponent(`http://${inside}/clip.mp4`)}`);
  });
});
