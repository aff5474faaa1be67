import { describe, expect } from 'vitest';
import { it, usePage, type Visitor } from '../fixtures/page.ts';

const { open, see, link } = usePage();

it('the progress of a tool is shown in the language of the page, and then the result', async () => {
  const maintenance = 'Updating yt-dlp to 2099.01.01';
  const visitor = await open('/', { locale: 'de' });
  const { page } = visitor;
  await visitor.refuse('Fetch/', { status: 503, type: '/problems/maintenance', title: maintenance });
  await page.route('**/api/App', async (route) => {
    const response = await route.fetch();
    const progress = { 'x-maintenance': 'step=fetch, tool="yt-dlp", received=12000000, total=34000000' };
    const json = { ...(await response.json()), maintenance };
    await route.fulfill({ response, json, headers: { ...response.headers(), ...progress } });
  });
  await visitor.enter(link('/site/combined/patient'));
  await visitor.heading('Wird vorbereitet');
  await visitor.says(/^yt-dlp wird geladen: 12\sMB von 34\sMB \(35\s%\)$/);
  const bar = page.getByRole('progressbar');
  expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['12000000', '34000000']);
  expect([await page.getByText(maintenance).count(), visitor.resolves()]).toEqual([0, 1]);
  await visitor.admit();
  await visitor.item();
  expect([await page.getByText('Wird vorbereitet').count(), visitor.resolves()]).toEqual([0, 2]);
});

const DELAYED = { status: 503, type: '/problems/delayed', retryAfter: 5 };
const WAKING = { status: 503, retryAfter: 1 };
const BUSY = { status: 429, retryAfter: 2 };

describe('a wait that the instance asks for', () => {
  const isTaken = (visitor: Visitor) => visitor.says('Download started');

  it.each([
    ['Fetch/', DELAYED, /^The site releases this video in \d s$/],
    ['Fetch/', BUSY, /^Retrying in \d s$/],
  ])('is counted down before a result: %s %o', async (path, answer, text) => {
    const visitor = await open();
    await visitor.refuse(path, answer);
    await visitor.enter(link('/site/combined/eager'));
    await visitor.says(text);
    await visitor.admit();
    await visitor.item();
  });

  it.each([
    [WAKING, 'Starting the server'],
    [BUSY, /^Retrying in \d+ s$/],
  ])('is shown in the download, which then starts: %o', async (answer, text) => {
    const visitor = await see('/site/combined/asleep');
    await visitor.refuse('Stream/', answer);
    const coming = visitor.page.waitForEvent('download');
    await visitor.press(/^Download .*720p/);
    await visitor.says(text);
    await visitor.admit();
    await (await coming).path();
    await isTaken(visitor);
  });

  it.each([
    [WAKING, 'Starting the server'],
    [BUSY, 'Too many requests'],
  ])('is shown in the player, which resumes at the same position: %o', async (answer, text) => {
    const visitor = await see('/files/long.mp4');
    await visitor.play();
    await visitor.refuse('Stream/', answer);
    await visitor.media.evaluate((media) => {
      (media as HTMLMediaElement).currentTime = 240;
    });
    await visitor.alerts(text);
    await visitor.says(/^Retrying in \d s$/);
    await visitor.admit();
    await visitor.playsFrom(240);
    expect(await visitor.page.getByRole('alert').getByText(text).count()).toBe(0);
    expect([await visitor.of('paused'), await visitor.of('error')]).toEqual([false, null]);
  });

  it.each([
    [400, /^Retrying in 6 min, \d+ sec$/],
    // Too long to wait for.
    [3600, 'Try again in 1 hr.'],
  ])('of %i s is told in its unit', async (retryAfter, text) => {
    const visitor = await open();
    await visitor.refuse('Fetch/', { status: 429, retryAfter });
    await visitor.enter(link('/site/combined/too-eager'));
    await visitor.announces(/Too many requests/);
    await visitor.says(text);
  });
});

it('a video that its site lets start later says so, and so does its player', async () => {
  const visitor = await see('/site/combined/waits?wait=60');
  await visitor.says(/^The site releases this video in \d+ s$/);
  await visitor.press(/^Play/);
  await visitor.says('Waiting for the site');
});
