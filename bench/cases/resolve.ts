import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installedTools } from '../../test/support/installed-tools.ts';
import { type Case, PLUGIN_DIR } from '../bench.ts';
import { inTurn, median, seconds } from '../figures.ts';

const run = promisify(execFile);
const RUNS = 15;
const REPEATED_RUNS = 200;

/** A link is resolved through the HTTP endpoint, and by a `yt-dlp -J` of its own. */
export const resolve: Case = async function* (bench) {
  const { origin, resolve } = bench;
  const { ytDlp } = await installedTools();
  const [program, ...before] = ytDlp.command;
  await origin.publish('clip', [{ file: 'clip.mp4', holds: 'both' }], 20);

  let number = 0;
  const cold = async (link: string) =>
    run(program, [...before, '-J', '--ignore-config', '--plugin-dirs', PLUGIN_DIR, link], { maxBuffer: 1e8 });
  for (const [what, path] of [
    ['resolve of a site, new link', '/site/clip'],
    ['resolve of a direct file, new link', '/media/clip.mp4'],
  ] as const) {
    await resolve(`${origin.baseUrl}${path}?warm`);
    const link = () => `${origin.baseUrl}${path}?n=${number++}`;
    const { ours, rival } = await inTurn(
      RUNS,
      () => seconds(() => resolve(link())),
      () => seconds(() => cold(link())),
    );
    yield { what, ours: ours * 1000, rival: rival * 1000, rivalName: 'yt-dlp -J', unit: 'ms', atMost: 1 / 17 };
    yield { what, ours: ours * 1000, unit: 'ms', atMost: 30 };
  }

  const again = `${origin.baseUrl}/site/clip?again`;
  await resolve(again);
  const repeated: number[] = [];
  for (let count = 0; count < REPEATED_RUNS; count += 1) repeated.push(await seconds(() => resolve(again)));
  yield {
    what: 'resolve of a repeated link',
    ours: median(repeated) * 1000,
    unit: 'ms',
    atMost: 1.5,
  };
};
