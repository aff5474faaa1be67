import type { Case } from '../bench.ts';
import { take } from '../clients.ts';
import { inTurn, seconds } from '../figures.ts';

/** A source that gives each connection 4 MB/s. */
export const throttled: Case = async function* (bench) {
  const bytes = bench.sizes['hour.m4a'] ?? 0;
  await bench.origin.publish(
    'throttled',
    [{ id: 'file', path: '/slow/hour.m4a', vcodec: 'none', acodec: 'mp4a.40.2', bytes }],
    3600,
  );
  const url = await bench.stream('throttled', 'audio');
  const speed = async (from: string) => bytes / 1e6 / (await seconds(() => take(from)));
  const figures = await inTurn(
    3,
    () => speed(url),
    () => speed(`${bench.nginx.baseUrl}/slow/hour.m4a`),
  );
  yield { what: 'a source throttled to 4 MB/s a connection', ...figures, rivalName: 'nginx', unit: 'MB/s', atLeast: 3 };
};
