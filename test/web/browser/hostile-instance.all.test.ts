import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { useBrowser } from '../fixtures/browser.ts';

const instance = useFakeInstance();
const { open } = useBrowser();

/** Opens a link at an instance that answers with this. */
async function see(answer: { body: string } | { json: unknown }) {
  const visitor = await open(instance.baseUrl, { reusePage: true });
  await visitor.page.route('**/api/Fetch/GetResource*', (route) => route.fulfill(answer));
  await visitor.enter('https://video.example/x');
  return visitor;
}

/** `test/web/api/api.test.ts` has further shapes. */
describe('an instance that answers with', () => {
  it.each([
    ['null among its items', { json: { type: 'PlayList', title: 'x', mediaItems: [null, null] } }],
    ['no JSON', { body: '<html>' }],
  ])('%s is reported as unreachable', async (_, answer) => {
    const visitor = await see(answer);
    await visitor.heading(/Can.t reach the server/);
    expect(await visitor.field.count()).toBe(1);
  });

  it('a script as address of an item offers no link to it', async () => {
    const video = { renditions: [{ key: 'whole', label: '360p', fileExtension: '.mp4', mimeType: 'video/mp4' }] };
    const item = { requestedUrl: 'javascript:alert(1)', title: 'T', author: null, coverUrl: null, video };
    const visitor = await see({ json: { type: 'Media', mediaItems: [item] } });
    await visitor.item();
    expect(await visitor.page.locator('a[href^="javascript:alert"]').count()).toBe(0);
  });
});
