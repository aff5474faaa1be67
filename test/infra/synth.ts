import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Environment } from 'aws-cdk-lib';
import { afterAll } from 'vitest';
import { createApp } from '../../infra/create-app.ts';
import type { Template } from './permissions.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Every function that there is, by its entry file. */
export const FUNCTIONS = readdirSync(join(ROOT, 'lambdas', 'entries')).map((file) => basename(file, '.ts'));

/** What cdk.json tells CDK: the feature flags. */
export const flags: Record<string, unknown> = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context;

export const EUROPE: Environment = { account: '111111111111', region: 'eu-central-1' };
export const VIRGINIA: Environment = { account: '111111111111', region: 'us-east-1' };

/** A folder with something of everything that is deployed: what it is plays no part at synthesis. */
export function placeholderBundle(folder: string): string {
  for (const name of FUNCTIONS) write(join(folder, 'functions', name), 'index.mjs', 'export const handler = () => {};');
  write(join(folder, 'stream-service'), 'Dockerfile', 'FROM scratch');
  return folder;
}

/** Goes when the tests of its file have ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-synth-'));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface Synthesis {
  /** By the stack's name. */
  readonly templates: Readonly<Record<string, Template>>;
  readonly stacks: readonly string[];
  /** What CDK would have to ask AWS before it could go on. */
  readonly lookups: readonly unknown[];
}

/**
 * Synthesises as `cdk synth` does, without Docker, credentials or look-ups.
 * @throws Error when cdk-nag or CloudFormation's own validation find an error
 */
export function synthesize(context: Readonly<Record<string, unknown>>, env?: Environment): Synthesis {
  const folder = temporaryFolder();
  const assembly = createApp({
    bundleDir: placeholderBundle(join(folder, 'bundle')),
    context: { ...flags, ...context },
    outdir: join(folder, 'out'),
    deployedAt: 'a day',
    ...(env && { env }),
  }).synth();
  return {
    templates: Object.fromEntries(assembly.stacks.map(({ stackName, template }) => [stackName, template])),
    stacks: assembly.stacks.map(({ stackName }) => stackName),
    lookups: assembly.manifest.missing ?? [],
  };
}

function write(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), text);
}
