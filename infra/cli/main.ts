/**
 * `npm run infra -- synth|preflight|deploy|diff|destroy|reopen [flags of cdk]`: runs the CDK CLI, checks what a deployment needs,
 * bootstraps the account where that is needed, and opens an edge that the cost guard has closed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { type Finding, formatFindings, hasProblem } from '../../core/findings/index.ts';
import type { GuardReport } from '../../core/spending/index.ts';
import { profileOf } from '../profiles.ts';
import { CLOUDFRONT_REGION, firewallStackNameOf, readContext, stackNameOf } from '../settings.ts';
import {
  EVERY_STACK,
  findStack,
  hasUpdateConflict,
  invokeCostGuard,
  isBootstrapped,
  type StackTarget,
  unprotect,
} from './deployed-stack.ts';
import { checkAccount, checkMachine, regionsOf } from './preflight.ts';

const ROOT = join(import.meta.dirname, '../..');
const CDK = join(ROOT, 'node_modules', 'aws-cdk', 'bin', 'cdk');
/** Makes the CDK CLI read the output of `synth` instead of running the app again. */
const SYNTHESIZED = ['--app', 'cdk.out'];

/** Flags of this command alone. The CDK CLI gets all others, and ignores those that one of its commands does not know. */
const OWN_FLAGS = ['--skip-preflight', '--unprotect'];
const OPTIONS = {
  context: { type: 'string', short: 'c', multiple: true },
  profile: { type: 'string' },
  vpc: { type: 'string' },
  'skip-preflight': { type: 'boolean' },
  unprotect: { type: 'boolean' },
  status: { type: 'boolean' },
} as const;

const COMMANDS: Readonly<Record<string, () => void | Promise<void>>> = {
  synth: () => cdk('synth', '--quiet'),
  preflight,
  deploy,
  diff: () => cdk('diff'),
  destroy,
  reopen,
};

const [command = '', ...flags] = process.argv.slice(2);
try {
  const run = COMMANDS[command];
  if (!run)
    throw new Error(`Use: npm run infra -- ${Object.keys(COMMANDS).join('|')} [-c setting=value] [flags of cdk]`);
  await run();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

/** Runs the CDK CLI with the flags of this command. @throws Error when it fails */
function cdk(...args: readonly string[]): void {
  const passed = flags.filter((flag) => !OWN_FLAGS.includes(flag));
  const { status } = spawnSync(process.execPath, [CDK, ...args, ...passed], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`cdk ${args[0]} failed`);
}

/** The flags of this command, and the settings from `-c` and cdk.json. */
async function readFlags({ strict = false } = {}) {
  const { values } = parseArgs({ args: flags, options: OPTIONS, strict });
  const { context: pairs = [], ...given } = values as {
    readonly context?: readonly string[];
    readonly profile?: string;
    readonly vpc?: string;
    readonly 'skip-preflight'?: boolean;
    readonly unprotect?: boolean;
    readonly status?: boolean;
  };
  if (given.vpc !== undefined && !/^vpc-[0-9a-f]+$/.test(String(given.vpc)))
    throw new Error('--vpc needs the id of a network, such as vpc-0123456789abcdef0');
  const context: Readonly<Record<string, string | undefined>> = {
    ...JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context,
    ...Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2))),
  };
  const { profile } = given;
  const region = await new LambdaClient({ profile }).config.region().catch(() => undefined);
  const qualifier = context['@aws-cdk/core:bootstrapQualifier'];
  return { ...given, region, qualifier, settings: readContext(context), isProfileNamed: Boolean(context.profile) };
}

type Flags = Awaited<ReturnType<typeof readFlags>>;

/** The stacks that a stage may have: that of the service, and that of its firewall in us-east-1. */
function targetsOf({ region, profile, settings }: Flags): [service: StackTarget, firewall: StackTarget] {
  if (!region) throw new Error('No AWS region: set AWS_REGION, or region in the AWS profile');
  return [
    { region, profile, stackName: stackNameOf(settings) },
    { region: CLOUDFRONT_REGION, profile, stackName: firewallStackNameOf(settings, region) },
  ];
}

async function checkAll(given: Flags): Promise<Finding[]> {
  return [...checkMachine(given.settings), ...(await checkAccount(given))];
}

async function preflight(): Promise<void> {
  const findings = await checkAll(await readFlags());
  process.stdout.write(`${formatFindings(findings)}\n`);
  if (hasProblem(findings)) process.exitCode = 1;
}

/** Synthesizes once and deploys that, a second time where the first failed because of an update of the tools. */
async function deploy(): Promise<void> {
  if (flags.some((flag) => /^(?:--output|-o)(?:=|$)/.test(flag)))
    throw new Error('deploy writes to cdk.out and deploys it: leave --output out');
  const given = await readFlags();
  if (!given['skip-preflight']) {
    const findings = (await checkAll(given)).filter(({ severity }) => severity !== 'ok');
    if (findings.length > 0) process.stderr.write(`${formatFindings(findings)}\n`);
    if (hasProblem(findings))
      throw new Error('Nothing was built. npm run infra -- preflight shows all; --skip-preflight deploys nevertheless');
  }
  const targets = targetsOf(given);
  const [target] = targets;
  if (!given.isProfileNamed) await requireDeployedProfile(target, given.settings.profile);
  // CDK deletes a stack whose first deployment has failed, which CloudFormation refuses while it is protected.
  for (const each of targets) {
    const found = await findStack(each).catch(() => undefined);
    if (found?.isProtected && !found.isComplete) await unprotect(each);
  }
  cdk('synth', '--quiet');
  cdk('list', '--long', ...SYNTHESIZED);
  if (await lacksBootstrap(given, target)) cdk('bootstrap', ...SYNTHESIZED);
  const since = new Date();
  try {
    cdk('deploy', '--all', ...SYNTHESIZED);
  } catch (error) {
    if (!(await hasUpdateConflict(target, since).catch(() => false))) throw error;
    process.stderr.write('The update of the tools has changed a function meanwhile: deploying again\n');
    cdk('deploy', '--all', ...SYNTHESIZED);
  }
  if (profileOf(given.settings).streamHost !== 'on-demand') return;
  const { BaseUrl = 'BASE_URL' } = (await findStack(target).catch(() => undefined))?.outputs ?? {};
  process.stdout.write(
    `The stream host was not tried: it starts with a stream. Try it: npm run verify -- ${BaseUrl} --link LINK --wait 300\n`,
  );
}

/** @throws Error when the deployed profile is another one, whose stream host the deployment would replace */
async function requireDeployedProfile(target: StackTarget, profile: string): Promise<void> {
  const deployed = await findStack(target).catch((error: unknown) => {
    throw new Error(`Could not read the deployed profile, name it with -c profile=…: ${String(error)}`);
  });
  const { Profile } = deployed?.outputs ?? {};
  if (deployed?.isComplete && !Profile)
    throw new Error('The stack does not tell its profile, and none was named: add -c profile=… of the deployed one');
  if (deployed?.isComplete && Profile !== profile)
    throw new Error(
      `The deployed profile is ${Profile}, and none was named: add -c profile=${Profile} to keep it, or -c profile=${profile} to change it`,
    );
}

/** @returns false also where AWS does not answer: the deployment then reports what is missing */
async function lacksBootstrap({ settings, qualifier }: Flags, target: StackTarget): Promise<boolean> {
  const found = regionsOf(settings, target.region).map((region) =>
    isBootstrapped({ ...target, region }, qualifier).catch((error: unknown) => {
      process.stderr.write(`Could not look for CDK's bootstrap in ${region}: ${String(error)}\n`);
      return true;
    }),
  );
  return (await Promise.all(found)).includes(false);
}

/** Destroys the stacks of a stage, whatever its profile, and says what stays. */
async function destroy(): Promise<void> {
  const given = await readFlags();
  const staying = ["CDK's bootstrap stack CDKToolkit", 'inactive task definitions', 'service-linked roles'];
  for (const target of targetsOf(given)) {
    const { stackName, region } = target;
    const deployed = await findStack(target);
    const table = deployed?.outputs.RetainedTable;
    if (table) staying.unshift(`the table ${table} in ${region}`);
    if (!deployed?.isProtected) continue;
    if (!given.unprotect)
      throw new Error(`${stackName} in ${region} is protected against deletion: add --unprotect to delete it`);
    await unprotect(target);
  }
  flags.push(...Object.entries(EVERY_STACK).flatMap(([name, value]) => ['--context', `${name}=${value}`]));
  cdk('destroy', '--all');
  process.stdout.write(`What stays: ${staying.join(', ')} (docs/operating-aws.md)\n`);
}

/** Opens an edge that the cost guard has closed, and counts spending from now on; with `--status` it only says what has been spent. */
async function reopen(): Promise<void> {
  const given = await readFlags({ strict: true });
  const [target] = targetsOf(given);
  const report = await invokeCostGuard(target, given.status ? {} : { open: true });
  if (!report)
    throw new Error(
      `There is no stack ${target.stackName} with a cost guard in ${target.region}: name it with -c stage=`,
    );
  const state = report.closedUntil ? `Closed until ${report.closedUntil}` : 'Open';
  const [hour, day] = [spent(report, 'hour'), spent(report, 'day')];
  process.stdout.write(`${state}. By the metrics ${hour} this hour and ${day} today, by list prices\n`);
}

function spent({ spending, caps }: GuardReport, period: 'hour' | 'day'): string {
  return `$${spending[period].spent.toFixed(2)} of $${caps[period]}`;
}
