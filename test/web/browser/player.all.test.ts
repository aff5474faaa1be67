import { describe, expect } from 'vitest';
import { SECONDS } from '../../origin/recipes.ts';
import { eventually, it, usePage, type Visitor } from '../fixtures/page.ts';

const { open, see, link, service } = usePage();

/** Opens a link and plays a format of it. */
async function play(path: string, format?: RegExp) {
  const visitor = await see(path);
  await visitor.play(format);
  return visitor;
}

async function seeksTo(visitor: Visitor, seconds: number) {
  expect(await visitor.seek(seconds)).toBeCloseTo(seconds, 0);
  await visitor.playsFrom(seconds);
}

describe('player', () => {
  it.each([
    ['a file', '/files/long.mp4', /./, 'VIDEO', SECONDS.long, 0],
    ['an MP3 conversion', '/files/long.mp4', /^192 kbps.*MP3/, 'AUDIO', SECONDS.long, 1],
    ['a list of segments', '/hls/fmp4/index.m3u8', /./, 'VIDEO', SECONDS.clip, 1],
    ['a pair', '/site/open/combined', /^720p/, 'VIDEO', SECONDS.ladder, 1],
  ])('seeks in %s, and requests only the range it needs', async (_, path, format, tagName, seconds, heads) => {
    const visitor = await see(path);
    await visitor.selectFormat(format);
    // A stream that is played before its size is known has no end.
    const sized = async () => {
      const asked = visitor.requests.filter((request) => request.method() === 'HEAD');
      const answers = await Promise.all(asked.map((request) => request.response()));
      return answers.filter((answer) => answer?.headers()['accept-ranges'] === 'bytes').length;
    };
    await eventually(sized).toBeGreaterThanOrEqual(heads);
    await visitor.play();
    expect(await visitor.of('tagName')).toBe(tagName);
    expect(await visitor.of('duration')).toBeCloseTo(seconds, 0);
    const parts: number[] = [];
    // The browser may report a response after the media has used it.
    visitor.page.on('response', (response) => {
      const [, first] = /^bytes (\d+)-/.exec(response.headers()['content-range'] ?? '') ?? [];
      if (response.status() === 206) parts.push(Number(first));
    });
    await seeksTo(visitor, Math.floor(seconds * 0.75));
    if (seconds > 60) await eventually(() => Math.max(...parts)).toBeGreaterThan(100_000);
    // Seeking back keeps playing.
    await seeksTo(visitor, 1);
    expect([await visitor.of('paused'), await visitor.of('error')]).toEqual([false, null]);
    expect(visitor.asked(/\/api\/Stream\/Combined\//)).toBe(0);
  });

  it('goes back in a live stream to the oldest segment that is available', async () => {
    const visitor = await play('/live/index.m3u8');
    await visitor.press('Go back');
    const held = () =>
      visitor.media.evaluate((media) => {
        const { seekable } = media as HTMLMediaElement;
        return seekable.length > 0 ? [seekable.start(0), seekable.end(0)] : [];
      });
    await eventually(async () => (await held()).length).toBe(2);
    const [start = 0, end = 0] = await held();
    expect(end - start).toBeGreaterThan(5);
    await seeksTo(visitor, start + 2);
    expect(await visitor.of('controls')).toBe(true);
    await visitor.press('Back to live');
    await eventually(() => visitor.media.getAttribute('src')).toMatch(/\/Stream\/Media\//);
    await visitor.playsFrom(0);
  });

  it.each([
    ['by the browser', true, /\/Stream\/Hls\/.*\/master\.m3u8$/],
    ['by a library', false, /^blob:/],
  ])('seeks in the playlists of what does not play as a file, %s', async (_, playsHls, source) => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    if (!playsHls)
      await page.addInitScript(() => {
        const { canPlayType } = HTMLMediaElement.prototype;
        HTMLMediaElement.prototype.canPlayType = function (type) {
          return type.includes('mpegurl') ? '' : canPlayType.call(this, type);
        };
      });
    await page.route('**/api/Stream/Media/**', (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ body: 'No media', contentType: 'video/mp4' })
        : route.continue(),
    );
    await page.goto(service.pageFor('/site/open/playlists'));
    await visitor.play(/^720p/);
    expect(await visitor.of('currentSrc')).toMatch(source);
    expect(await visitor.of('duration')).toBeCloseTo(SECONDS.ladder, 0);
    await seeksTo(visitor, 6);
    expect(visitor.asked(/\/assets\/hls/) > 0).toBe(!playsHls);
  });

  it.each([true, false])('offers to play on another device only while one is in reach: %s', async (isInReach) => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    await page.addInitScript((isAvailable) => {
      RemotePlayback.prototype.watchAvailability = async (tell) => {
        tell(isAvailable);
        return 1;
      };
      RemotePlayback.prototype.prompt = async () => {
        Object.assign(globalThis, { isPrompted: true });
      };
    }, isInReach);
    await page.goto(service.pageFor('/site/combined/cast'));
    await visitor.play(/^360p/);
    const cast = visitor.button('Play on another device');
    expect(await cast.count()).toBe(isInReach ? 1 : 0);
    if (!isInReach) return;
    await cast.click();
    expect(await page.evaluate(() => 'isPrompted' in globalThis)).toBe(true);
  });

  it('takes the height of an upright video, up to most of the window', async () => {
    const visitor = await open('about:blank', { viewport: { width: 1280, height: 1000 } });
    await visitor.page.addInitScript(() => {
      for (const [name, pixels] of Object.entries({ videoWidth: 90, videoHeight: 160 }))
        Object.defineProperty(HTMLVideoElement.prototype, name, { get: () => pixels });
    });
    await visitor.page.goto(service.pageFor('/site/combined/upright'));
    await visitor.press('Play');
    await eventually(async () => (await visitor.media.boundingBox())?.height).toBeCloseTo(800, 0);
  });

  it('switches renditions, and returns to its button when closed', async () => {
    const visitor = await play('/site/combined/closed', /^720p/);
    await visitor.play(/^360p/);
    await eventually(() => visitor.of('videoHeight')).toBe(360);
    await visitor.press('Close the player');
    await visitor.button(/^Play Größe/).waitFor();
  });

  it('continues in a corner while another link is opened, and returns to its page', async () => {
    const visitor = await play('/site/music/song');
    const { page } = visitor;
    // The media controls of the system.
    await eventually(() => page.evaluate(() => navigator.mediaSession.metadata?.artist)).toBe('Ada Example');
    const first = await visitor.media.elementHandle();
    await visitor.enter(link('/site/combined/meanwhile'));
    await visitor.item('meanwhile');
    const mini = page.getByRole('complementary', { name: /^Player: / });
    const press = (name: string) => mini.getByRole('button', { name, exact: true }).click();
    const isPaused = () => first?.evaluate((media) => media.isConnected && (media as HTMLMediaElement).paused);
    await press('Pause');
    await eventually(isPaused).toBe(true);
    await press('Play');
    await eventually(isPaused).toBe(false);
    await mini.getByRole('link').click();
    await eventually(() => first?.evaluate((media) => media.closest('article') !== null)).toBe(true);
    // An element that moves pauses, until the page lets it continue.
    await eventually(isPaused).toBe(false);
    await visitor.playsFrom(Number(await visitor.of('currentTime')));
    await visitor.press('Close the player');
    await eventually(() => visitor.media.count()).toBe(0);
  });

  it('shows that a stream cannot be sought before the user tries, and offers no part of it', async () => {
    const visitor = await see('/hls/fields/index.m3u8');
    await visitor.says(/Can’t be resumed/);
    await visitor.press('Play');
    await visitor.says('You can’t skip in this format.');
    expect(await visitor.of('controls')).toBe(true);
    for (const control of [visitor.menu('Chapter'), visitor.button('Clip')]) expect(await control.count()).toBe(0);
  });

  it('offers subtitles, and shows details with chapters that it seeks to', async () => {
    const visitor = await play('/site/detailed/one', /^360p/);
    const { page } = visitor;
    const tracks = page.locator('video track');
    await eventually(() => tracks.count()).toBeGreaterThan(0);
    const cues = await tracks.first().evaluate(async (element) => {
      const { track } = element as HTMLTrackElement;
      const loaded = new Promise((resolve) => element.addEventListener('load', resolve, { once: true }));
      track.mode = 'showing';
      await loaded;
      return track.cues?.length;
    });
    expect(cues).toBeGreaterThan(0);
    await page.getByText('Details', { exact: true }).click();
    await visitor.heading('Chapters');
    // The first chapter has two seconds: it must not end while it is looked at.
    await visitor.pause();
    await page.locator('.chapters li').last().getByRole('button').first().click();
    await visitor.playsFrom(1);
    const menu = visitor.menu('Chapter');
    const [first = '', second] = await menu.getByRole('option').allTextContents();
    expect(second).toBeDefined();
    await menu.selectOption(first);
    await eventually(() => visitor.of('currentTime')).toBeLessThan(1);
    await eventually(() => menu.inputValue()).toBe('0');
    const names = [page.getByRole('link', { name: 'srt' }).first(), page.getByRole('link', { name: 'Download cover' })];
    for (const [index, extension] of ['.srt', '.jpg'].entries())
      expect((await visitor.download(names[index])).suggestedFilename()).toContain(extension);
  });

  it('continues in another language at the position that is played', async () => {
    const visitor = await play('/site/dubbed/languages');
    await visitor.pause();
    await visitor.seek(2);
    const original = await visitor.media.getAttribute('src');
    await visitor.choose('Sound language', 'German (dubbed)');
    await visitor.press('Play');
    await eventually(() => visitor.media.getAttribute('src')).toBe(`${original}?audio=de`);
    await visitor.playsFrom(2);
    expect(await visitor.of('error')).toBe(null);
  });

  it('explains why playback failed and retries', async () => {
    const visitor = await see('/site/combined/gone');
    await visitor.item();
    await visitor.refuse('Stream/', { status: 404 });
    await visitor.press('Play');
    await visitor.alerts('Link expired');
    await visitor.admit();
    await visitor.press('Try again');
    await visitor.playsFrom(0);
    expect(await visitor.page.getByText('Link expired').count()).toBe(0);
  });
});

describe('downloads beside the player', () => {
  it('are of one chapter, or of each as a file in a ZIP', async () => {
    const visitor = await see('/site/detailed/chapters');
    await visitor.selectFormat(/^360p/);
    await visitor.page.getByText('Details', { exact: true }).click();
    const chapter = await visitor.download(/^Download End/);
    expect(chapter.suggestedFilename()).toMatch(/End.*\.mp4$/);
    expect(new URL(chapter.url()).searchParams.get('chapter')).toBe('2');
    await visitor.says('Download started. See your browser’s downloads.');
    const each = 'Download each chapter (ZIP)';
    const all = new URL((await visitor.download(each)).url()).searchParams;
    expect([all.get('quality'), all.get('format')]).toEqual(['360p', 'zip']);
    await visitor.choose('Video or sound', 'Sound');
    await visitor.choose('Format', 'MP3 192');
    expect(new URL((await visitor.download(each)).url()).search).toBe('?quality=mp3&tags=true&format=zip');
  });

  it('are of a live stream from now on, or of its last minutes', async () => {
    const visitor = await see('/live/index.m3u8');
    await visitor.heading(/ – live$/);
    await visitor.says('Records from now until you cancel it.');
    expect(await visitor.page.getByText(/Can’t be resumed/).count()).toBe(0);
    const download = await visitor.download(/^Download the last \d+ (?:sec|min)/);
    expect(new URL(download.url()).search).toMatch(/[?&]segments=\d+-\d+/);
    await visitor.says('Download started. See your browser’s downloads.');
  });

  it.each<[string, string, RegExp | undefined]>([
    ['12 sec', 'its source holds', /-held\.m3u8/],
    ['5 min', 'is asked for where that is not known', undefined],
  ])('are of the last %s of a live stream, which %s', async (seconds, _, playlist) => {
    const visitor = await open();
    const body = '#EXTM3U\n#EXTINF:6.000,\nboth-1.ts\n#EXTINF:6.006,\nboth-2.ts\n';
    await visitor.page.route(playlist ?? /held\.m3u8/, (route) =>
      playlist ? route.fulfill({ body }) : route.fulfill({ status: 502, body: '' }),
    );
    await visitor.enter(link('/live/index.m3u8'));
    await visitor.button(`Download the last ${seconds}`).waitFor();
  });
});
