import type { Case } from '../bench.ts';
import { measureLoad } from '../clients.ts';
import { inTurn } from '../figures.ts';

/** A source that gives each connection 4 MB/s. */
export const throttled: Case = async function* ({ origin, service, nginx, stream }) {
  await origin.publish('throttled', [{ file: 'hour.m4a', holds: 'audio', folder: '/slow/' }], 3600);
  const url = await stream('throttled');
  const figures = await inTurn(
    3,
    async () => (await measureLoad(service, url)).speed,
    async () => (await measureLoad(nginx, `${nginx.baseUrl}/slow/hour.m4a`)).speed,
  );
  yield { what: 'a source throttled to 4 MB/s a connection', ...figures, rivalName: 'nginx', unit: 'MB/s', atLeast: 3 };
};
