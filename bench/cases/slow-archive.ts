import { type StandaloneCase, startReelay } from '../bench.ts';
import { archiveOf, take } from '../clients.ts';
import { inTurn, seconds } from '../figures.ts';
import { startPacedOrigin } from '../paced-origin.ts';

const RUNS = 3;
const ENTRIES = 20;
const MAX_RATIO = 1.1;

/**
 * A new list of slow sources as one file, resolved on the way, beside curl: the pages and files of the entries, of known
 * addresses, one after another and two at a time.
 */
export const slowArchive: StandaloneCase = async function* () {
  const origin = await startPacedOrigin();
  const service = await startReelay(origin.host);
  let lists = 0;
  const takeArchive = async () => {
    const taken = await take(await archiveOf(service, origin.list(`slow-${lists++}`, ENTRIES)));
    if (taken < origin.bytes * ENTRIES) throw new Error(`${taken} bytes of ${origin.bytes * ENTRIES}`);
  };
  const takeFiles = async (concurrency: number) => {
    const list = `slow-${lists++}`;
    const numbers = Array.from({ length: ENTRIES }, (_, index) => index + 1);
    const next = async (): Promise<void> => {
      const number = numbers.shift();
      if (number === undefined) return;
      const { page, file } = origin.item(list, number);
      await take(page);
      await take(file);
      return next();
    };
    await Promise.all(Array.from({ length: concurrency }, next));
  };
  try {
    for (const [concurrency, rivalName, goal] of [
      [1, 'curl one after another', { atMost: MAX_RATIO }],
      [2, 'curl two at a time', {}],
    ] as const)
      yield {
        what: `zip of ${ENTRIES} files of slow sources`,
        ...(await inTurn(
          RUNS,
          () => seconds(() => takeArchive()),
          () => seconds(() => takeFiles(concurrency)),
        )),
        rivalName,
        unit: 's',
        ...goal,
      };
  } finally {
    await service.close();
    await origin.close();
  }
};
