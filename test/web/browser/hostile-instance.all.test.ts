import { describe, expect, it } from 'vitest';
import { useFakeInstance } from '../fakes/instance.ts';
import { useBrowser } from '../fixtures/browser.ts';

const instance = useFakeInstance();
const { open } = useBrowser();

const item = { requestedUrl: 'https://a.example/', title: 'T', author: null, coverUrl: null };
/** `test/web/api/api.test.ts` has further ones. */
const SHAPES: readonly (readonly [name: string, body: unknown])[] = [
  ['null among its items', { type: 'PlayList', title: 'x', mediaItems: [null, null] }],
  ['no JSON', undefined],
];

describe('an instance that answers with', () => {
  it.each(SHAPES)('%s is reported as unreachable', async (_, body) => {
    const { page } = await open(instance.baseUrl, { reusePage: true });
    await page.route('**/api/Fetch/GetResource*', (route) =>
      body === undefined ? route.fulfill({ body: '<html>' }) : route.fulfill({ json: body }),
    );
    await page.goto(`${instance.baseUrl}/?url=${encodeURIComponent('https://video.example/x')}`);
    await page.getByRole('heading', { name: /Can.t reach the server/ }).waitFor();
    expect(await page.getByRole('textbox').count()).toBe(1);
    await page.unrouteAll();
  });

  it('a script as address of an item offers no link to it', async () => {
    const { page } = await open(instance.baseUrl);
    const video = { renditions: [{ key: 'whole', label: '360p', fileExtension: '.mp4', mimeType: 'video/mp4' }] };
    await page.route('**/api/Fetch/GetResource*', (route) =>
      route.fulfill({ json: { type: 'Media', mediaItems: [{ ...item, requestedUrl: 'javascript:alert(1)', video }] } }),
    );
    await page.goto(`${instance.baseUrl}/?url=${encodeURIComponent('https://video.example/x')}`);
    await page.getByRole('article').waitFor();
    expect(await page.locator('a[href^="javascript:alert"]').count()).toBe(0);
  });
});
