import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createBilibili, videoUrl } from '../../test/sites/bilibili/bilibili.ts';
import { createDailymotion } from '../../test/sites/dailymotion/dailymotion.ts';
import { createReddit } from '../../test/sites/reddit/reddit.ts';
import { createSoundcloud } from '../../test/sites/soundcloud/soundcloud.ts';
import { startSites } from '../../test/sites/start-sites.ts';
import { stockCommand } from '../../test/sites/stock-yt-dlp.ts';
import { createTwitch } from '../../test/sites/twitch/twitch.ts';
import { createVimeo } from '../../test/sites/vimeo/vimeo.ts';
import { createX } from '../../test/sites/x/x.ts';
import { watchUrl } from '../../test/sites/youtube/videos.ts';
import { createYoutube } from '../../test/sites/youtube/youtube.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { resolveLink, streamOf } from '../clients.ts';
import { type Figure, inTurn, seconds } from '../figures.ts';
import type { Server } from '../processes.ts';

const RUNS = 5;
const MAX_RATIO = 1 / 10;
/** Links of sites that need no imitated browser. Each link is new to the service: the sites ignore the parameter. */
const LINKS: Readonly<Record<string, string>> = {
  YouTube: `${watchUrl('plainplain1')}&bench=`,
  Twitch: 'https://www.twitch.tv/videos/100?bench=',
  Bilibili: `${videoUrl('BV1plain00001')}?bench=`,
  SoundCloud: 'https://soundcloud.com/someone/song?bench=',
  Reddit: 'https://www.reddit.com/r/videos/comments/video1/a_post/?bench=',
  X: 'https://x.com/someone/status/101?bench=',
  Vimeo: 'https://player.vimeo.com/video/101?bench=',
  Dailymotion: 'https://www.dailymotion.com/video/xplain1?bench=',
};

const SITES = [
  ...[createYoutube, createTwitch, createBilibili, createSoundcloud, createReddit, createX, createVimeo],
  createDailymotion,
];
/** yt-dlp connects from here, the service from another address. */
const STOCK_ADDRESS = '127.0.0.9';

/** Links of the sites of `test/sites`: until there is metadata, and until the first byte of the best sound. */
export const sites: StandaloneCase = async function* () {
  const dir = await mkdtemp(join(tmpdir(), 'bench-sites-'));
  const running = await startSites(await Promise.all(SITES.map((create) => create())));
  let service: Server | undefined;
  try {
    service = await startReelay('127.0.0.1:9', {
      OUTGOING_PROXIES: await running.proxyFor('127.0.0.1'),
      EXTRA_CA_FILE: running.caFile,
      NAMES_ADDRESS: '192.0.43.8',
    });
    const proxy = await running.proxyFor(STOCK_ADDRESS);
    const stock = await stockCommand({ dir, caFile: running.caFile, proxy });
    yield* measure(service, (args) => firstOutput({ ...stock, cwd: dir }, args));
  } finally {
    await service?.close();
    await running.close();
    await rm(dir, { recursive: true, force: true });
  }
};

async function* measure(service: Server, stock: (args: readonly string[]) => Promise<void>): AsyncIterable<Figure> {
  let number = 0;
  for (const [name, link] of Object.entries(LINKS)) {
    const next = () => `${link}${number++}`;
    await firstByte(service, next());
    const figure = async (what: string, ours: (link: string) => Promise<unknown>, args: readonly string[]) => {
      const times = await inTurn(
        RUNS,
        () => seconds(() => ours(next())),
        () => seconds(() => stock([...args, next()])),
      );
      const rivalName = ['yt-dlp', ...args].join(' ');
      const ms = { ours: times.ours * 1000, rival: times.rival * 1000 };
      return { what: `${name}: ${what}`, ...ms, rivalName, unit: 'ms', atMost: MAX_RATIO };
    };
    yield await figure('resolve of a new link', (each) => resolveLink(service, each), ['-J']);
    yield await figure('first byte of a new link', (each) => firstByte(service, each), ['-f', 'ba/b', '-o', '-']);
  }
}

async function firstByte(service: Server, link: string): Promise<void> {
  const { status, body } = await fetch(await streamOf(service, link, {}, ['audio']));
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  if (status !== 200 || !first?.value) throw new Error(`${status} for the sound of ${link}`);
}

/** Runs yt-dlp until its first output. */
async function firstOutput(
  { command: [program = '', ...before], ...options }: Awaited<ReturnType<typeof stockCommand>> & { cwd: string },
  args: readonly string[],
): Promise<void> {
  const child = spawn(program, [...before, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors = text(child.stderr);
  const closed = once(child, 'close');
  const [first] = await Promise.race([once(child.stdout, 'data'), closed]);
  child.kill();
  if (!(first instanceof Buffer)) throw new Error(`yt-dlp ended with ${first}: ${args.join(' ')}: ${await errors}`);
}
