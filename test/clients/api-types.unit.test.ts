import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, expectTypeOf, it } from 'vitest';
import type * as client from '../../clients/reelay-client/src/api-types.ts';
import type { Schema } from '../../core/api/index.ts';
import { renderClientTypes } from '../../scripts/client-types.ts';

it('the types of the client are those of the schemas: npm run dev -- docs', async () => {
  const file = join(import.meta.dirname, '../../clients/reelay-client/src/api-types.ts');
  expect(await readFile(file, 'utf8')).toBe(renderClientTypes());
  expectTypeOf<client.AppInfo>().toEqualTypeOf<Schema<'AppInfo'>>();
  expectTypeOf<client.ArchiveProgress>().toEqualTypeOf<Schema<'ArchiveProgress'>>();
  expectTypeOf<client.MediaDetails>().toEqualTypeOf<Schema<'MediaDetails'>>();
  expectTypeOf<client.Playback>().toEqualTypeOf<Schema<'Playback'>>();
  expectTypeOf<client.ProblemDetails>().toEqualTypeOf<Schema<'ProblemDetails'>>();
  expectTypeOf<client.ResourceInformation>().toEqualTypeOf<Schema<'ResourceInformation'>>();
  expectTypeOf<client.SkipSegments>().toEqualTypeOf<Schema<'SkipSegments'>>();
});
