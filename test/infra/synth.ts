import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePlaceholders } from '../../infra/build/placeholders.ts';
import { afterFile } from '../support/after-file.ts';
import { DEPLOYMENTS, type DeploymentSettings, type SynthesizedName } from './deployment-settings.ts';
import type { Template } from './permissions.ts';
import { cached } from './synth-cache.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER_PREFIX = join(tmpdir(), 'reelay-synth-');

/** CDK feature flags of cdk.json. */
export const flags: Record<string, unknown> = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context;

/** A folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(FOLDER_PREFIX);
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The parts of a cloud assembly that tests read. */
interface Synthesis {
  /** By stack name. */
  readonly templates: Readonly<Record<string, Template>>;
  readonly stacks: readonly string[];
  /** Names of those that CloudFormation refuses to delete. */
  readonly protectedStacks: readonly string[];
  /** Context that the CDK CLI would have to look up in an account. */
  readonly lookups: readonly unknown[];
}

/**
 * Synthesizes as `cdk synth` does, without Docker, credentials or look-ups. Test files share the result through a cache
 * on disk whose key covers every input; a failed synthesis is not cached.
 * @throws Error when cdk-nag or CloudFormation's validation report an error
 */
export function synthesize(name: SynthesizedName): Promise<Synthesis> {
  const [context, env]: DeploymentSettings = DEPLOYMENTS[name];
  return cached(JSON.stringify([name, context, env]), async () => {
    // Imported on a cache miss only: loading aws-cdk-lib takes seconds.
    const { createApp } = await import('../../infra/create-app.ts');
    const folder = mkdtempSync(FOLDER_PREFIX);
    try {
      const assembly = createApp({
        bundleDir: writePlaceholders(join(folder, 'bundle')),
        context: { ...flags, ...context },
        outdir: join(folder, 'out'),
        env,
      }).synth();
      return {
        templates: Object.fromEntries(assembly.stacks.map(({ stackName, template }) => [stackName, template])),
        stacks: assembly.stacks.map(({ stackName }) => stackName),
        protectedStacks: assembly.stacks.flatMap(({ stackName, terminationProtection }) =>
          terminationProtection ? [stackName] : [],
        ),
        lookups: assembly.manifest.missing ?? [],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** The template of the service's stack, for deployments of stage `main`. */
export const mainTemplate = async (name: SynthesizedName): Promise<Template> =>
  (await synthesize(name)).templates['reelay-main'] ?? { Resources: {} };
