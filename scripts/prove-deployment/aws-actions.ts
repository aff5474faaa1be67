import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  type DeploymentTarget,
  findStackNames,
  findTargets,
  type Manifest,
  readDeployedSettings,
} from '../../infra/cli/index.ts';
import type { ProofOptions } from './options.ts';
import type { ProofActions } from './prove.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'infra', 'cli', 'main.ts');
const VERIFY = join(ROOT, 'scripts', 'verify', 'main.ts');
/** A hobby task needs about a minute to serve. */
const MAX_WAIT_SECONDS = 300;

export interface AwsActionsOptions extends ProofOptions {
  /** Existing folder for assembly and outputs. */
  readonly folder: string;
  readonly outputsFile: string;
}

/** Where the credentials of this process deploy to. */
export interface Place {
  readonly stackNames: readonly string[];
  readonly targets: readonly DeploymentTarget[];
}

/**
 * Synthesizes the stage to learn account, region and stack names: `public` has the most stacks.
 * @throws Error without credentials, or when they belong to another account
 */
export async function findPlace({ stage, account, context, folder }: AwsActionsOptions): Promise<Place> {
  const assembly = join(folder, 'assembly');
  const settings = [`stage=${stage}`, 'profile=public', ...context, 'streamHost=', 'minTasks=', 'maxTasks='];
  await run([CLI, 'synth', ...settings.flatMap((pair) => ['-c', pair]), '--output', assembly]);
  const manifest: Manifest = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  const targets = findTargets(manifest);
  if (targets.length === 0)
    throw new Error('No AWS account or region: set AWS_PROFILE or AWS_ACCESS_KEY_ID…, and AWS_REGION');
  const other = targets.find((target) => target.account !== account);
  if (other) throw new Error(`The credentials belong to the account ${other.account}, not to ${account}`);
  return { stackNames: findStackNames(manifest), targets };
}

/** The actions in the account that the credentials of this process belong to. */
export function createAwsActions(options: AwsActionsOptions, { stackNames, targets }: Place): ProofActions {
  const { outputsFile, links } = options;
  const outputs = () =>
    Object.assign({}, ...Object.values(JSON.parse(readFileSync(outputsFile, 'utf8')))) as Record<string, string>;
  return {
    async deployedProfile() {
      for (const { region } of targets) {
        for (const name of stackNames) {
          const deployed = await readDeployedSettings(name, region);
          if (deployed) return deployed.profile ?? 'unknown';
        }
      }
      return undefined;
    },
    runCli: (args, signal) => run([CLI, ...args], signal),
    verify: () =>
      run([
        ...[VERIFY, outputs().BaseUrl ?? '', '--wait', String(MAX_WAIT_SECONDS)],
        ...links.flatMap((link) => ['--link', link]),
      ]),
    async updateTools() {
      const [, region] = /--region (\S+)/.exec(outputs().UpdateToolsCommand ?? '') ?? [];
      const [, FunctionName] = /--function-name (\S+)/.exec(outputs().UpdateToolsCommand ?? '') ?? [];
      if (!region || !FunctionName) throw new Error('The deployment names no function that updates the tools');
      const client = new LambdaClient({ region, maxAttempts: 1 });
      try {
        const { FunctionError, Payload } = await client.send(new InvokeCommand({ FunctionName, Payload: '{}' }));
        const answer = Payload?.transformToString() ?? '';
        if (FunctionError) throw new Error(`The update failed: ${answer.slice(0, 300)}`);
        return `The update answered ${answer}`;
      } finally {
        client.destroy();
      }
    },
  };
}

/** Runs Node with arguments. @throws Error when it fails */
async function run(args: readonly string[], signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`);
}
