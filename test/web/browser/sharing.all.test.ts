import { describe, expect } from 'vitest';
import { useFakeInstance } from '../fakes/instance.ts';
import { eventually, it, type OpenOptions, usePage, type Visitor } from '../fixtures/page.ts';
import { addressOf } from './page-states.ts';

const { see, service, link, open } = usePage();
const named = usePage({ settings: { publicUrl: 'https://media.example' } });
const instance = useFakeInstance();
const PATH = '/site/combined/shared-item';

describe('a link with #download', () => {
  it('starts its download once', async () => {
    const visitor = await open(`${service.pageFor('/site/combined/download-link')}#download`);
    await visitor.says('Download started');
    expect(new URL(visitor.page.url()).hash).toBe('');
    await visitor.page.reload();
    await visitor.button(/^Download .*\d+p/).waitFor();
  });

  it('that has no media starts no download of the next link', async () => {
    const visitor = await open(`${service.pageFor('/site/gone/download-link')}#download`);
    await visitor.heading('No longer available');
    await visitor.enter(link('/site/combined/other-link'));
    await visitor.button(/^Download .*\d+p/).waitFor();
    expect(await visitor.page.getByText('Download started').count()).toBe(0);
  });
});

describe('sharing', () => {
  it('shows a QR code and the address with the selected format', async () => {
    const visitor = await named.see(PATH);
    await visitor.choose('Video or sound', 'Sound');
    await visitor.choose('Format', 'MP3 192');
    await visitor.press('Share');
    await visitor.byRole('img', 'QR code for this link').waitFor();
    await visitor.page.evaluate(() =>
      Object.assign(navigator.clipboard, { writeText: () => Promise.reject(new Error('denied')) }),
    );
    await visitor.press('Copy link');
    const address = new URL(await visitor.page.getByLabel('Copy it here:').inputValue());
    const query = [...address.searchParams];
    expect([address.origin, ...query]).toEqual([
      'https://media.example',
      ['url', named.link(PATH)],
      ['quality', 'mp3'],
    ]);
  });

  it('is not possible where the server listens on its own machine', async () => {
    const visitor = await see(PATH);
    await visitor.press('Share');
    await visitor.announces('This page is only reachable on this computer.');
    expect(await visitor.byRole('img', /QR code/).count()).toBe(0);
    expect(await visitor.button('Copy link').count()).toBe(0);
  });

  it('opens the share sheet on touch screens and ignores its dismissal', async () => {
    const visitor = await named.see(PATH, { hasTouch: true, isMobile: true });
    const { page } = visitor;
    await page.evaluate(() =>
      Object.assign(navigator, {
        share(data: ShareData) {
          Object.assign(globalThis, { shared: data.url });
          return Promise.reject(new DOMException('dismissed', 'AbortError'));
        },
      }),
    );
    await visitor.press('Share');
    const shared = () => page.evaluate(() => (globalThis as { shared?: string }).shared);
    await eventually(shared).toContain('https://media.example/?url=');
    expect(await visitor.byRole('img', /QR code/).count()).toBe(0);
  });
});

describe('sharing a file', () => {
  const FILE = 'Save to photos or share';
  const PHONE: OpenOptions = { hasTouch: true, isMobile: true };

  /** Opens an item of the fake instance in a browser with a share sheet. @param takes the types that the sheet takes */
  async function openWithSheet(name: string, takes = 'video/mp4', options = PHONE): Promise<Visitor> {
    const visitor = await open('about:blank', { ...options, reusePage: false });
    await visitor.page.addInitScript((type) => {
      Object.assign(navigator, {
        canShare: ({ files = [] }: ShareData) => files.every((file) => file.type === type),
        share: async ({ files: [file] = [] }: ShareData) => {
          const isRefused = 'refused' in globalThis;
          Object.assign(globalThis, { shared: file && { name: file.name, type: file.type, size: file.size } });
          if (isRefused) throw new DOMException('no', 'NotAllowedError');
        },
      });
    }, takes);
    await visitor.page.goto(instance.baseUrl + addressOf(name));
    await visitor.page.getByRole('article').waitFor();
    return visitor;
  }
  const sharedBy = ({ page }: Visitor) => page.evaluate(() => (globalThis as { shared?: unknown }).shared);

  it('fetches it when asked, and hands it to the share sheet', async () => {
    const visitor = await openWithSheet('plain');
    expect(await sharedBy(visitor)).toBe(undefined);
    await visitor.press(FILE);
    await visitor.press('Open the share sheet');
    await eventually(() => sharedBy(visitor)).toEqual({ name: 'Untitled.mp4', type: 'video/mp4', size: 400_000 });
  });

  it('is offered where the browser and the system take such a file of at most 100 MB', async () => {
    const visitor = await openWithSheet('video');
    await visitor.selectFormat(/360p/);
    await visitor.button(FILE).waitFor();
    await visitor.selectFormat(/720p/);
    await visitor.button(FILE).waitFor({ state: 'detached' });
    for (const other of [await openWithSheet('plain', 'video/webm'), await openWithSheet('plain', 'video/mp4', {})]) {
      await other.button('Share').waitFor();
      expect(await other.button(FILE).count()).toBe(0);
    }
  });

  it('is cancelled', async () => {
    const visitor = await openWithSheet('plain');
    const release = await visitor.hold('**/api/Stream/**');
    await visitor.press(FILE);
    await visitor.press(/^Cancel · /);
    release();
    await visitor.button(FILE).waitFor();
    expect(await sharedBy(visitor)).toBe(undefined);
  });

  it('says why it failed', async () => {
    const visitor = await openWithSheet('video');
    await visitor.selectFormat(/240p/);
    await visitor.press(FILE);
    await visitor.announces('Too large. Try the link of a single item.');
    await visitor.selectFormat(/360p/);
    await visitor.refuse('Stream/', { status: 404 });
    await visitor.press(FILE);
    await visitor.announces(/^Link expired/);
    await visitor.admit();
    await visitor.page.evaluate(() => Object.assign(globalThis, { refused: true }));
    await visitor.press(FILE);
    await visitor.press('Open the share sheet');
    await visitor.announces(/^Format not available/);
  });
});
