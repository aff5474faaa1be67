import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createApp } from '../create-app.ts';
import type { Template } from './fixed-costs.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * The resources of all stacks of a deployment in one template.
 * @param context settings of the deployment
 * @throws SettingError
 */
export function synthesize(context: Readonly<Record<string, string>>): Template {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-cost-'));
  try {
    const flags = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context;
    const { stacks } = createApp({
      bundleDir: createPlaceholderBundle(folder),
      context: { ...flags, ...context },
      env: { account: '111111111111', region: 'eu-central-1' },
      outdir: join(folder, 'out'),
    }).synth();
    const all = stacks.map(({ template }) => template as Template);
    // Logical ids are unique only within a stack.
    const entries = all.flatMap(({ Resources = {} }, stack) =>
      Object.entries(Resources).map(([id, resource]) => [`${stack}-${id}`, resource] as const),
    );
    return { Resources: Object.fromEntries(entries) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Empty bundles: their content does not affect the cost. */
function createPlaceholderBundle(folder: string): string {
  const put = (place: string, file: string, text: string) => {
    mkdirSync(join(folder, place), { recursive: true });
    writeFileSync(join(folder, place, file), text);
  };
  for (const file of readdirSync(join(ROOT, 'lambdas', 'entries')))
    put(`functions/${basename(file, '.ts')}`, 'index.mjs', '');
  put('stream-service', 'Dockerfile', 'FROM scratch');
  put('stream-function', 'index.js', '');
  return folder;
}
