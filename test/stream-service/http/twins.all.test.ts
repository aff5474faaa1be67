import { describe, it } from 'vitest';
import { expectOwn, expectUnmixed, KINDS, type Kind, LIVE_OUTPUTS, OUTPUTS } from './twins-fixture.ts';

const kinds = Object.keys(KINDS) as Kind[];
const outputsOf = (kind: Kind) => (kind === 'a live list' ? LIVE_OUTPUTS : OUTPUTS);

describe('two sources that agree in all but their bytes', () => {
  it.each(kinds)('%s: each client gets its own', async (kind) => {
    await expectOwn(kind, outputsOf(kind), kind === 'a live list' ? 3 : 8);
  });
});

describe('two versions of one source', () => {
  const VALIDATORS = {
    'of other ETags': (twin: number) => `"${twin}"`,
    'of one ETag': () => '"same"',
    'without validators': () => null,
  };
  const cases = kinds.flatMap((kind) =>
    Object.entries(VALIDATORS).map(([name, etagOf]) => [kind, name, etagOf] as const),
  );
  it.each(cases)('%s, %s, are never joined', async (kind, _, etagOf) => {
    const paths =
      kind === 'a live list' ? LIVE_OUTPUTS.slice(0, 2) : ['Media/KEY', 'Media/KEY?format=mp3', 'Media/KEY?format=wav'];
    for (const path of paths) await expectUnmixed(kind, path, etagOf);
  });
});
