import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { flags } from './synth.ts';

it('sets every feature flag as the installed CDK recommends', () => {
  const file = createRequire(import.meta.url).resolve('aws-cdk-lib/recommended-feature-flags.json');
  expect(flags).toMatchObject(JSON.parse(readFileSync(file, 'utf8')));
});
