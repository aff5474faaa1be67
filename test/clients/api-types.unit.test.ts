import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderClientTypes } from '../../scripts/client-types.ts';

it('the types of the client are those of the description: npm run dev -- docs', async () => {
  const file = join(import.meta.dirname, '../../clients/reelay-client/src/api-types.ts');
  expect(await readFile(file, 'utf8')).toBe(await renderClientTypes());
});
