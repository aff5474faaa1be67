/**
 * `npm run infra -- synth|preflight|deploy|diff|destroy [flags of cdk]`: runs the CDK CLI, checks what a deployment needs, and
 * bootstraps the account where that is needed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SettingError } from '../../core/config/index.ts';
import { type DeploymentSettings, readContext } from '../config/index.ts';
import { checkAccount, checkMachine, formatFindings, isBootstrapped } from '../preflight/index.ts';
import {
  type CommandPlan,
  type DeploymentTarget,
  findStackNames,
  findTargets,
  type Manifest,
  planCommand,
} from './cli-plan.ts';
import { findContainerProblem } from './container-runtime.ts';
import { findProfileConflict, hasMetConflict, readDeployedSettings, unprotect } from './deployed-settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const CDK = join(ROOT, 'node_modules', 'aws-cdk', 'bin', 'cdk');

const SKIP_PREFLIGHT = '--skip-preflight';
const [command = '', ...given] = process.argv.slice(2);
/** Lets `destroy` delete a stack that is protected. */
const UNPROTECT = '--unprotect';
const flags = given.filter((flag) => flag !== SKIP_PREFLIGHT && flag !== UNPROTECT);
const assembly = mkdtempSync(join(tmpdir(), 'reelay-cdk-'));

/** Runs the CDK CLI. @returns its exit status */
function runCdk(args: readonly string[]): number {
  const { status, error } = spawnSync(process.execPath, [CDK, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (error) process.stderr.write(`${error.message}\n`);
  return status ?? 1;
}

/** Runs the CDK CLI; exits with its status when it fails. */
function cdk(args: readonly string[]): void {
  const status = runCdk(args);
  if (status !== 0) exit(status);
}

function exit(status: number): never {
  rmSync(assembly, { recursive: true, force: true });
  process.exit(status);
}

function fail(line: string): never {
  process.stderr.write(`${line}\n`);
  return exit(2);
}

/** Context of cdk.json. */
const readFileContext = (): Record<string, unknown> => JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context;

/** Fails before the build; CDK itself would fail in the middle of a deployment. */
function requireContainerRuntime(): void {
  const problem = findContainerProblem({
    program: process.env.CDK_DOCKER ?? 'docker',
    run: (program, args) => spawnSync(program, args, { encoding: 'utf8' }),
  });
  if (problem) fail(problem);
}

/** Fails when no profile is named and the default one would replace the deployed stream host. */
async function requireSameHost(
  { named = {}, awsProfile }: CommandPlan,
  manifest: Manifest,
  targets: readonly DeploymentTarget[],
): Promise<void> {
  if (named.profile ?? readFileContext().profile) return;
  for (const { region } of targets) {
    for (const stackName of findStackNames(manifest)) {
      const deployed = await readDeployedSettings(stackName, region, awsProfile).catch((error: unknown) => {
        fail(`Could not read the deployed profile, name it with -c profile=…: ${String(error)}`);
      });
      const conflict = findProfileConflict(deployed, readContext({}).profile);
      if (conflict) fail(conflict);
    }
  }
}

/** The settings as the synthesis reads them. */
function readSettings({ named }: CommandPlan): DeploymentSettings {
  try {
    return readContext({ ...readFileContext(), ...named });
  } catch (error) {
    if (error instanceof SettingError) fail(error.message);
    throw error;
  }
}

const findAccount = async ({ awsProfile }: CommandPlan, settings: DeploymentSettings) =>
  checkAccount({
    settings,
    awsProfile,
    qualifier: readFileContext()['@aws-cdk/core:bootstrapQualifier'] as string | undefined,
    region: await new LambdaClient({ profile: awsProfile }).config.region().catch(() => undefined),
  });

/** Removes the protection of stacks where that is asked for, and fails where it is not. @returns what stays after the deletion */
async function prepareDeletion({ awsProfile }: CommandPlan, manifest: Manifest, targets: readonly DeploymentTarget[]) {
  const staying = ["CDK's bootstrap stack CDKToolkit", 'inactive task definitions', 'service-linked roles'];
  for (const { region } of targets) {
    for (const stackName of findStackNames(manifest)) {
      const deployed = await readDeployedSettings(stackName, region, awsProfile);
      if (deployed?.retainedTable) staying.unshift(`the table ${deployed.retainedTable} in ${region}`);
      if (!deployed?.isProtected) continue;
      if (!given.includes(UNPROTECT))
        fail(`${stackName} in ${region} is protected against deletion: add ${UNPROTECT} to delete it`);
      await unprotect(stackName, region, awsProfile);
    }
  }
  return staying;
}

/** Runs the command on the stacks: a deployment that has met an update of the tools a second time. */
async function carryOut(
  { awsProfile }: CommandPlan,
  run: readonly string[],
  manifest: Manifest,
  targets: readonly DeploymentTarget[],
): Promise<void> {
  const since = new Date();
  const status = runCdk(run);
  if (status === 0) return;
  const conflicts = await Promise.all(
    targets.flatMap(({ region }) =>
      findStackNames(manifest).map((name) => hasMetConflict(name, region, since, awsProfile).catch(() => false)),
    ),
  );
  if (command !== 'deploy' || !conflicts.includes(true)) exit(status);
  process.stderr.write('The update of the tools has changed a function meanwhile: deploying again\n');
  cdk(run);
}

const plan = planCommand(command === 'preflight' ? 'deploy' : command, flags, {
  app: `"${process.execPath}" infra/app.ts`,
  assembly,
});
if (!plan) fail('Use: npm run infra -- synth|preflight|deploy|diff|destroy|reopen [-c setting=value] [flags of cdk]');
if (command === 'deploy') requireContainerRuntime();
if (command === 'preflight') {
  const settings = readSettings(plan);
  const findings = [...checkMachine(), ...(await findAccount(plan, settings))];
  process.stdout.write(`${formatFindings(findings)}\n`);
  exit(findings.some(({ state }) => state === 'problem') ? 1 : 0);
}
if (command === 'deploy' && !given.includes(SKIP_PREFLIGHT)) {
  const findings = (await findAccount(plan, readSettings(plan))).filter(({ state }) => state !== 'ok');
  if (findings.length > 0) process.stderr.write(`${formatFindings(findings)}\n`);
  if (findings.some(({ state }) => state === 'problem'))
    fail(`Nothing was built. npm run infra -- preflight shows all; ${SKIP_PREFLIGHT} deploys nevertheless`);
}
if (plan.asksForApproval && !process.stdin.isTTY) {
  process.stderr.write(
    'Without a terminal, a deployment that widens permissions fails: see `npm run infra -- diff`, and add --yes\n',
  );
}
cdk(plan.synth);
if (plan.run) {
  const manifest: Manifest = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  const found = findTargets(manifest);
  if (found.length === 0) fail('No AWS account or region: set AWS_PROFILE or AWS_ACCESS_KEY_ID…, and AWS_REGION');
  for (const { account, region } of found) process.stdout.write(`In the account ${account}, in ${region}\n`);
  if (command === 'deploy') await requireSameHost(plan, manifest, found);
  for (const place of command === 'deploy' ? found : []) {
    const known = await isBootstrapped(place, plan.awsProfile).catch((error: unknown) => {
      process.stderr.write(`Could not look for CDK's bootstrap ${place.qualifier}: ${String(error)}\n`);
      return true;
    });
    if (!known) cdk(plan.bootstrap(place));
  }
  const staying = command === 'destroy' ? await prepareDeletion(plan, manifest, found) : [];
  await carryOut(plan, plan.run, manifest, found);
  if (staying.length > 0) process.stdout.write(`What stays: ${staying.join(', ')} (docs/first-deployment.md)\n`);
  if (plan.outputs) process.stdout.write(`${formatSummary(JSON.parse(readFileSync(plan.outputs, 'utf8')))}\n`);
}
if (!plan.run) process.stdout.write('Described in cdk.out\n');
exit(0);

function formatSummary(stacks: Record<string, Record<string, string>>): string {
  const outputs = Object.assign({}, ...Object.values(stacks)) as Record<string, string>;
  return [`Reelay answers at ${outputs.BaseUrl}`, `To update its tools now: ${outputs.UpdateToolsCommand}`].join('\n');
}
