import { expect, it } from 'vitest';
import { synthesize } from './synth.ts';

it('synthesizes one tree to identical stacks', async () => {
  expect(await synthesize('public in us-east-1, again')).toEqual(await synthesize('public in us-east-1'));
});
