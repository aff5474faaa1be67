import type { Case } from '../bench.ts';
import { resolveLink } from '../clients.ts';
import { inTurn, median, seconds, unlessShort } from '../figures.ts';
import { runYtDlp } from '../rivals.ts';

const RUNS = unlessShort(15);
const REPEATED_RUNS = unlessShort(200);

/** A link is resolved through the HTTP endpoint, and by a `yt-dlp -J` of its own. */
export const resolve: Case = async function* ({ origin, service }) {
  await origin.publish('clip', [{ file: 'clip.mp4', holds: 'both' }], 20);
  let number = 0;
  for (const [what, path] of [
    ['resolve of a site, new link', '/site/clip'],
    ['resolve of a direct file, new link', '/media/clip.mp4'],
  ] as const) {
    await resolveLink(service, `${origin.baseUrl}${path}?warm`);
    const link = () => `${origin.baseUrl}${path}?n=${number++}`;
    const { ours, rival } = await inTurn(
      RUNS,
      () => seconds(() => resolveLink(service, link())),
      () => seconds(() => runYtDlp('-J', link())),
    );
    yield { what, ours: ours * 1000, rival: rival * 1000, rivalName: 'yt-dlp -J', unit: 'ms', atMost: 1 / 17 };
    yield { what, ours: ours * 1000, unit: 'ms', atMost: 30 };
  }

  const again = `${origin.baseUrl}/site/clip?again`;
  await resolveLink(service, again);
  const repeated: number[] = [];
  for (let count = 0; count < REPEATED_RUNS; count += 1)
    repeated.push(await seconds(() => resolveLink(service, again)));
  yield { what: 'resolve of a repeated link', ours: median(repeated) * 1000, unit: 'ms', atMost: 1.5 };
};
