import type { Page } from 'playwright-core';
import type { Health } from '../fakes/instance.ts';
import { menuOf, selectFormat } from '../fixtures/browser.ts';

/** A state of the page and how to reach it. */
export interface PageState {
  readonly name: string;
  /** Path and query. */
  readonly path: string;
  /** Text to wait for before `act`. */
  readonly shows: string | RegExp;
  readonly act?: (page: Page) => Promise<unknown>;
  /** @default healthy */
  readonly health?: Health;
  readonly locale?: string;
  /** `act` leaves downloads, a player or settings behind: the next state needs a new page. */
  readonly leavesTraces?: true;
  /** Checked in every scheme, and from right to left. */
  readonly isMain?: true;
  /** The elements and colours are those of another state: only the layout is checked. */
  readonly hasOnlyOtherTexts?: true;
}

/** Whether the state can be reached from another one within the page, without loading it again. */
export const isWithinPage = ({ path, health, locale }: PageState): boolean =>
  path.startsWith('/?url=') && health === undefined && locale === undefined;

const link = (name: string) => `/?url=${encodeURIComponent(`https://video.example/watch/${name}`)}`;
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

const play = async (page: Page): Promise<void> => {
  await button(page, 'Play').last().click();
  await page.locator('video').evaluate('video => new Promise((play) => video.ontimeupdate = play)');
};
const HEADLINE = 'Paste a link. Watch, listen, download.';

async function download(page: Page): Promise<void> {
  await selectFormat(page, /360p/);
  await button(page, /^Download /).click();
  await button(page, /^Download .* again/).waitFor();
}

const visit = async (page: Page, names: readonly string[]) => {
  for (const name of names) {
    await page.goto(link(name));
    await page.getByRole('article').first().waitFor();
  }
  await page.goto('/');
  await page.getByRole('heading', { name: /Recent/ }).waitFor();
};

const failure = (name: string, shows: string): PageState => ({
  name: `failure-${name}`,
  path: link(name),
  shows,
  hasOnlyOtherTexts: true,
});

const VIDEO = { path: link('video'), shows: 'A Walk Along' };
/** Of which a player or a download stays. */
const PLAIN = { leavesTraces: true, path: link('plain'), shows: 'Untitled' } as const;
const AUDIO = { leavesTraces: true, path: link('audio'), shows: 'Étude for a Slow Machine' } as const;

export const STATES: readonly PageState[] = [
  { name: 'empty', isMain: true, path: '/', shows: HEADLINE },
  {
    name: 'not-a-link',
    path: '/',
    shows: HEADLINE,
    act: async (page) => {
      await page.getByRole('textbox').fill('no link at all');
      await page.keyboard.press('Enter');
      await page.getByText('That’s not a link').waitFor();
    },
  },
  { name: 'skeleton', path: link('never'), shows: 'Loading.' },
  { name: 'video', isMain: true, ...VIDEO },
  {
    name: 'video-all',
    ...VIDEO,
    act: async (page) => {
      await page.getByText(/^All formats/).click();
    },
  },
  {
    name: 'sound',
    leavesTraces: true,
    ...VIDEO,
    act: async (page) => {
      await menuOf(page, 'Video or sound').selectOption('Sound');
      await menuOf(page, 'Format').selectOption('MP3 320');
      await menuOf(page, 'Sound language').selectOption('German (dubbed)');
    },
  },
  { name: 'long-title', hasOnlyOtherTexts: true, path: link('long'), shows: 'The Complete and Unabridged' },
  { name: 'plain', path: link('plain'), shows: 'Untitled' },
  { name: 'audio', path: link('audio'), shows: 'Étude for a Slow Machine' },
  { name: 'list', isMain: true, path: link('list'), shows: 'Northern Coast, All Parts' },
  { name: 'list-counts', path: link('counted'), shows: 'The rest of the coast' },
  { name: 'list-long-title', hasOnlyOtherTexts: true, path: link('long-list'), shows: 'The Complete and Unabridged' },
  {
    name: 'list-picked',
    leavesTraces: true,
    path: link('list'),
    shows: 'Northern Coast, All Parts',
    act: async (page) => {
      await page.getByRole('checkbox', { name: /Part Two/ }).uncheck();
      await button(page, /formats Part One/).click();
      await menuOf(page, 'Quality').waitFor();
    },
  },
  { name: 'playing', ...PLAIN, act: play },
  {
    name: 'not-shareable',
    path: link('plain'),
    shows: 'Untitled',
    act: async (page) => {
      await button(page, 'Share').click();
      await page.getByText('Other devices can’t open').waitFor();
    },
  },
  {
    name: 'details',
    ...VIDEO,
    act: async (page) => {
      await page.getByText('Details', { exact: true }).click();
      await page.getByRole('heading', { name: 'Chapters' }).waitFor();
    },
  },
  {
    name: 'clip',
    ...PLAIN,
    act: async (page) => {
      await button(page, 'Clip').click();
      await page.getByRole('slider', { name: 'End' }).waitFor();
      await page.getByRole('textbox', { name: 'End' }).fill('x');
      await page.getByText('Enter times such as').waitFor();
    },
  },
  {
    name: 'playing-mini',
    ...PLAIN,
    act: async (page) => {
      await play(page);
      await page.getByRole('textbox').first().fill('https://video.example/watch/audio');
      await page.keyboard.press('Enter');
      await page.getByText('Étude for a Slow Machine').first().waitFor();
      await page.getByRole('complementary').getByRole('link', { name: 'Untitled' }).waitFor();
    },
  },
  {
    name: 'playing-audio',
    ...AUDIO,
    act: async (page) => {
      await selectFormat(page, /129 kbps/);
      await button(page, 'Play').last().click();
      await page.locator('audio').waitFor();
    },
  },
  {
    name: 'playing-fails',
    ...AUDIO,
    act: async (page) => {
      await selectFormat(page, /48 kbps/);
      await button(page, 'Play').last().click();
      await page.getByText('Link expired').first().waitFor();
    },
  },
  { name: 'downloading', isMain: true, leavesTraces: true, ...VIDEO, act: download },
  {
    name: 'download-failed',
    ...AUDIO,
    act: async (page) => {
      await selectFormat(page, /48 kbps/);
      await button(page, /^Download /).click();
      await page.getByText('Link expired').first().waitFor();
    },
  },
  {
    name: 'batch',
    leavesTraces: true,
    path: `/?${['video', 'audio', 'login'].map((name) => link(name).slice(2)).join('&')}`,
    shows: 'Pasted links',
    act: async (page) => {
      await page.getByText('Sign-in required').first().waitFor();
    },
  },
  { name: 'more-ways', path: '/', shows: HEADLINE, act: (page) => page.getByText('More ways to add links').click() },
  failure('not-found', 'Nothing found'),
  failure('protected', 'Protected content'),
  { name: 'failure-login', path: link('login'), shows: 'Sign-in required', isMain: true },
  failure('region', 'Not available in this region'),
  failure('refused', 'Blocked by the site'),
  failure('unhandled', 'Link not supported'),
  failure('failed', 'The site didn’t respond properly'),
  { name: 'too-many', path: link('too-many'), shows: 'Too many requests' },
  { name: 'maintenance', path: link('maintenance'), shows: 'Getting ready', health: 'maintenance' },
  {
    name: 'offline',
    leavesTraces: true,
    path: '/',
    shows: HEADLINE,
    act: async (page) => {
      await page.context().setOffline(true);
      await page.getByRole('textbox').fill('https://video.example/watch/plain');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'You’re offline' }).waitFor();
    },
  },
  {
    name: 'history',
    leavesTraces: true,
    path: '/',
    shows: HEADLINE,
    act: (page) => visit(page, ['video', 'audio', 'list', 'long']),
  },
  { name: 'arabic-empty', hasOnlyOtherTexts: true, path: '/', shows: /./, locale: 'ar' },
  { name: 'arabic', hasOnlyOtherTexts: true, path: link('arabic'), shows: 'نزهة', locale: 'ar' },
  { name: 'arabic-list', hasOnlyOtherTexts: true, path: link('list'), shows: 'Northern Coast', locale: 'ar' },
  { name: 'japanese-empty', hasOnlyOtherTexts: true, path: '/', shows: /./, locale: 'ja' },
  { name: 'japanese', hasOnlyOtherTexts: true, path: link('japanese'), shows: '冬の終わり', locale: 'ja' },
  { name: 'chinese', hasOnlyOtherTexts: true, path: link('list'), shows: 'Northern Coast', locale: 'zh-CN' },
  { name: 'german', hasOnlyOtherTexts: true, ...VIDEO, locale: 'de' },
];
