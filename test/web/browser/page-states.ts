import type { Visitor } from '../fixtures/browser.ts';

/** A state of the page and how to reach it. */
export interface PageState {
  readonly name: string;
  /** Path and query. */
  readonly path: string;
  /** Text to wait for before `act`. */
  readonly shows: string | RegExp;
  readonly act?: (visitor: Visitor) => Promise<unknown>;
  /** `act` leaves downloads, a player or settings behind: the next state needs a new page. */
  readonly leavesTraces?: true;
  /** Checked in every scheme, and from right to left. */
  readonly isMain?: true;
}

/** The address of a link whose last segment selects a response of the fake instance. */
export const addressOf = (name: string) => `/?url=${encodeURIComponent(`https://video.example/watch/${name}`)}`;

const START = { path: '/', shows: 'Paste a link. Watch, listen, download.' } as const;
const VIDEO = { path: addressOf('video'), shows: 'A Walk Along' } as const;
const LIST = { path: addressOf('list'), shows: 'Northern Coast, All Parts' } as const;
/** Of which a player or a download stays. */
const PLAIN = { leavesTraces: true, path: addressOf('plain'), shows: 'Untitled' } as const;
const AUDIO = { leavesTraces: true, path: addressOf('audio'), shows: 'Étude for a Slow Machine' } as const;

export const STATES: readonly PageState[] = [
  { name: 'empty', isMain: true, ...START, act: ({ says }) => says('TikTok') },
  {
    name: 'not-a-link',
    ...START,
    act: async ({ enter, alerts }) => {
      await enter('no link at all');
      await alerts('That’s not a link');
    },
  },
  { name: 'skeleton', path: addressOf('never'), shows: 'Loading.' },
  { name: 'video', isMain: true, ...VIDEO },
  { name: 'video-all', ...VIDEO, act: ({ page }) => page.getByText(/^All formats/).click() },
  {
    name: 'sound',
    leavesTraces: true,
    ...VIDEO,
    act: async ({ choose }) => {
      await choose('Video or sound', 'Sound');
      await choose('Format', 'MP3 128');
      await choose('Sound language', 'German (dubbed)');
    },
  },
  { name: 'plain', path: PLAIN.path, shows: PLAIN.shows },
  { name: 'audio', path: AUDIO.path, shows: AUDIO.shows },
  { name: 'list', isMain: true, ...LIST },
  { name: 'list-counts', path: addressOf('counted'), shows: 'The rest of the coast' },
  {
    name: 'list-picked',
    leavesTraces: true,
    ...LIST,
    act: async ({ byRole, press, menu }) => {
      await byRole('checkbox', /Part Two/).uncheck();
      await press(/formats ?Part One/);
      await menu('Quality').waitFor();
    },
  },
  { name: 'playing', ...PLAIN, act: (visitor) => visitor.play() },
  {
    name: 'not-shareable',
    path: PLAIN.path,
    shows: PLAIN.shows,
    act: async ({ press, says }) => {
      await press('Share');
      await says('This page is only reachable');
    },
  },
  {
    name: 'devices',
    ...PLAIN,
    act: async (visitor) => {
      await visitor.page.evaluate(() => {
        Object.assign(navigator, { canShare: () => true, share: async () => undefined });
        Object.assign(globalThis, { matchMedia: () => ({ matches: true }) });
        RemotePlayback.prototype.watchAvailability = async (tell) => {
          tell(true);
          return 1;
        };
      });
      await visitor.play();
      await visitor.button('Play on another device').waitFor();
      await visitor.press('Save to photos or share');
      await visitor.button('Open the share sheet').waitFor();
    },
  },
  {
    name: 'details',
    ...VIDEO,
    act: async ({ page, heading }) => {
      await page.getByText('Details', { exact: true }).click();
      await heading('Chapters');
    },
  },
  {
    name: 'clip',
    ...PLAIN,
    act: async ({ press, byRole, says }) => {
      await press('Clip');
      await byRole('textbox', 'End').fill('x');
      await says('Enter times such as');
    },
  },
  {
    name: 'playing-mini',
    ...PLAIN,
    act: async (visitor) => {
      await visitor.play();
      await visitor.enter('https://video.example/watch/audio');
      await visitor.says(AUDIO.shows);
      await visitor.page.getByRole('complementary').getByRole('link', { name: PLAIN.shows }).waitFor();
    },
  },
  { name: 'playing-audio', ...AUDIO, act: (visitor) => visitor.play(/129 kbps/) },
  {
    name: 'playing-fails',
    ...AUDIO,
    act: async (visitor) => {
      await visitor.selectFormat(/48 kbps/);
      await visitor.press('Play');
      await visitor.says('Link expired');
    },
  },
  {
    name: 'downloading',
    isMain: true,
    leavesTraces: true,
    ...VIDEO,
    act: async (visitor) => {
      await visitor.selectFormat(/360p/);
      await visitor.press(/^Download ./);
      await visitor.says('Download started');
    },
  },
  {
    name: 'download-failed',
    ...AUDIO,
    act: async (visitor) => {
      await visitor.selectFormat(/48 kbps/);
      await visitor.press(/^Download ./);
      await visitor.says('Link expired');
    },
  },
  {
    name: 'batch',
    leavesTraces: true,
    path: `/?${['video', 'audio', 'login'].map((name) => addressOf(name).slice(2)).join('&')}`,
    shows: 'Pasted links',
    act: ({ says }) => says('Sign-in required'),
  },
  { name: 'more-ways', ...START, act: ({ page }) => page.getByText('More ways to add links').click() },
  { name: 'failure-login', path: addressOf('login'), shows: 'Sign-in required', isMain: true },
  { name: 'too-many', path: addressOf('too-many'), shows: 'Too many requests' },
  { name: 'maintenance', path: addressOf('maintenance'), shows: 'Getting ready' },
  {
    name: 'offline',
    leavesTraces: true,
    ...START,
    act: async ({ context, enter, heading }) => {
      await context.setOffline(true);
      await enter('https://video.example/watch/plain');
      await heading('You’re offline');
    },
  },
  {
    name: 'history',
    leavesTraces: true,
    ...START,
    act: async ({ page, heading }) => {
      for (const name of ['plain', 'video', 'audio', 'list', 'long']) {
        await page.goto(addressOf(name));
        await page.getByRole('article').first().waitFor();
      }
      // The last one was downloaded.
      await page.evaluate(() => {
        const [last, ...others] = JSON.parse(localStorage.getItem('reelay.history') ?? '');
        const downloaded = { ...last, fileUrl: `${location.origin}/api/Stream/Media/K` };
        localStorage.setItem('reelay.history', JSON.stringify([downloaded, ...others]));
      });
      await page.goto('/');
      await heading(/Recent/);
    },
  },
];
