import { expect } from 'vitest';
import type { SynthesizedName } from '../deployment-settings.ts';
import type { Template } from '../permissions.ts';
import { mainTemplate } from '../synth.ts';
import { Change } from './change.ts';
import { cellsOf, findProblems } from './rules.ts';

/** A deployment, or none. */
export type Name = SynthesizedName | 'nothing';

export const templateOf = async (name: Name): Promise<Template> =>
  name === 'nothing' ? { Resources: {} } : mainTemplate(name);

export const changeOf = (former: Template, next: Template) => new Change(former, next);

/** Asserts that nothing is wrong with a deployment, and with the way back: its rollback, or the next deployment. */
export async function expectSound(from: Name, to: Name): Promise<void> {
  const [one, two] = [await templateOf(from), await templateOf(to)];
  const changes = [changeOf(one, two), changeOf(two, one)];
  expect(changes.flatMap(findProblems)).toEqual([]);
  for (const each of changes) expect(cellsOf(each).length).toBeGreaterThan(from === 'nothing' ? 100 : 1);
}
