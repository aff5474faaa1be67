import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProfileName } from '../../infra/settings.ts';
import { PROFILE_NAMES, template } from './deployments.ts';
import { countWildcards, type Template, withoutHash } from './permissions.ts';
import { synthesize } from './synth.ts';
import { resourcesOfType } from './template.ts';

/** Tests of the tables in the manual. @param privateHobby template of a private instance, whose outputs the manual has too */
export function checkManual(privateHobby: Template): void {
  describe('docs/operating-aws.md', () => {
    const manual = readFileSync(join(import.meta.dirname, '../../docs/operating-aws.md'), 'utf8');
    /** Names in the first column of the table under a heading. */
    const rows = (heading: string) => {
      const [, section = ''] = manual.split(`\n## ${heading}\n`);
      const [table = ''] = section.split('\n## ');
      return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).sort();
    };

    it('has a runbook entry for every alarm, and no other', async () => {
      // CloudFront's metrics are in this region alone.
      const { templates } = await synthesize('public in us-east-1');
      const all = [...PROFILE_NAMES.map(template), ...Object.values(templates)];
      const alarms = all.flatMap((of) => resourcesOfType(of, 'AWS::CloudWatch::Alarm'));
      const names = alarms.map(({ id }) => withoutHash(id).replace('MonitoringAlarms', ''));
      expect(rows('Alarms')).toEqual([...new Set(names)].sort());
    });

    it('states how many statements have a wildcard', () => {
      const count = (name: ProfileName) => countWildcards(template(name));
      const row = (start: string) =>
        manual
          .split('\n')
          .find((line) => line.startsWith(start))
          ?.match(/\d+/g)
          ?.map(Number);
      const [everything, sum] = [row('| resource `*` |'), row('| sum |')];
      expect([everything?.[0], sum?.[0]]).toEqual(count('hobby'));
      for (const name of ['team', 'public'] as const) expect([everything?.[1], sum?.[1]]).toEqual(count(name));
    });

    it('explains every output, and each describes itself', () => {
      const outputs = [...PROFILE_NAMES.map(template), privateHobby].flatMap((each) =>
        Object.entries((each as unknown as { Outputs: Record<string, { Description?: string }> }).Outputs),
      );
      for (const [name, { Description }] of outputs) expect([name, Boolean(Description)]).toEqual([name, true]);
      expect(rows('Outputs')).toEqual([...new Set(outputs.map(([name]) => name))].sort());
    });
  });
}
