import { join } from 'node:path';

/** An account and region that a stack is deployed to. */
export interface DeploymentTarget {
  readonly account: string;
  readonly region: string;
  /** Qualifier of the CDK bootstrap stack that the deployment uses. */
  readonly qualifier: string;
}

/** The calls of the CDK CLI that carry out one command, each as its arguments. */
export interface CommandPlan {
  /** Writes the cloud assembly. */
  readonly synth: readonly string[];
  /** Works on that assembly. Absent for `synth`. */
  readonly run?: readonly string[];
  /** File that receives the stack outputs as JSON. */
  readonly outputs?: string;
  /** Settings that context flags name, with their values; blank ones are left out. */
  readonly named?: Readonly<Record<string, string>>;
  /** Profile of the AWS configuration (`--profile`). */
  readonly awsProfile?: string;
  /** Whether the CDK CLI may ask about IAM changes, for which it needs a terminal. */
  readonly asksForApproval?: boolean;
  bootstrap(place: DeploymentTarget): readonly string[];
}

/** The parts of a cloud assembly's `manifest.json` that are read here. */
export interface Manifest {
  readonly artifacts?: Readonly<
    Record<string, { type: string; environment?: string; properties?: { stackTemplateAssetObjectUrl?: string } }>
  >;
}

interface CommandPlanOptions {
  /** Command line of the CDK app. */
  readonly app: string;
  /** Empty folder for the cloud assembly. */
  readonly assembly: string;
}

/** Flags of the synthesis; all others belong to the command that follows it. */
const CONTEXT_FLAGS = new Set(['-c', '--context']);

/** The calls for a command; undefined when the command is unknown. */
export function planCommand(
  command: string,
  flags: readonly string[],
  { app, assembly }: CommandPlanOptions,
): CommandPlan | undefined {
  const { context, others } = splitContextFlags(flags);
  const awsProfile = flagValue('--profile', others);
  const credentials = awsProfile ? ['--profile', awsProfile] : [];
  const synth = (...more: string[]) => ['synth', '--quiet', '--app', app, ...context, ...more];
  const bootstrap = ({ account, region }: DeploymentTarget) => [
    ...['bootstrap', `aws://${account}/${region}`, '--app', assembly],
    ...credentials,
  ];
  const named = Object.fromEntries(
    context.flatMap((pair) => {
      const [, name, value] = /^([\w-]+)=(.+)$/s.exec(pair) ?? [];
      return name && value ? [[name, value]] : [];
    }),
  );
  const common = { bootstrap, awsProfile };
  if (command === 'synth') return { ...common, synth: synth(...others) };
  if (command === 'diff') {
    // Compares every stack, and has no option for that.
    const run = ['diff', '--app', assembly, ...others];
    return { ...common, synth: synth('--output', assembly, ...credentials), run };
  }
  if (command === 'deploy') {
    const chosenOutputs = flagValue('--outputs-file', others);
    const outputs = chosenOutputs ?? join(assembly, 'outputs.json');
    const isChosen = others.some((flag) => flag.startsWith('--require-approval'));
    const isApproved = others.some((flag) => flag === '--yes' || flag === '-y');
    // CDK shows wider permissions and asks; without a terminal it fails instead.
    const approval = isChosen ? [] : ['--require-approval', isApproved ? 'never' : 'broadening'];
    const run = [
      'deploy',
      '--all',
      '--app',
      assembly,
      ...(chosenOutputs ? [] : ['--outputs-file', outputs]),
      ...approval,
      ...others,
    ];
    return {
      ...common,
      synth: synth('--output', assembly, ...credentials),
      run,
      outputs,
      named,
      asksForApproval: !isChosen && !isApproved,
    };
  }
  if (command === 'destroy') {
    // The profile `public` has the most stacks, so stacks of any deployed profile are found. Task bounds set for the other
    // profile, and its stream host, may be invalid for this one: blank counts as not set.
    const everything = ['profile=public', 'minTasks=', 'maxTasks='].flatMap((setting) => ['--context', setting]);
    const run = ['destroy', '--all', '--app', assembly, ...others];
    return { ...common, synth: synth('--output', assembly, ...everything, ...credentials), run };
  }
  return undefined;
}

/** Names of the stacks. */
export const findStackNames = ({ artifacts = {} }: Manifest): string[] =>
  Object.entries(artifacts)
    .filter(([, { type }]) => type === 'aws:cloudformation:stack')
    .map(([name]) => name);

/** The distinct accounts and regions of the stacks; empty when CDK found no credentials. */
export function findTargets({ artifacts = {} }: Manifest): DeploymentTarget[] {
  const found = new Map<string, DeploymentTarget>();
  for (const { type, environment, properties } of Object.values(artifacts)) {
    const [, account, region] = /^aws:\/\/(\d{12})\/([a-z0-9-]+)$/.exec(environment ?? '') ?? [];
    // CDK's asset bucket: cdk-QUALIFIER-assets-ACCOUNT-REGION.
    const [, qualifier] = /^s3:\/\/cdk-([^/]+)-assets-/.exec(properties?.stackTemplateAssetObjectUrl ?? '') ?? [];
    if (type !== 'aws:cloudformation:stack' || !account || !region || !qualifier) continue;
    found.set(`${account}/${region}`, { account, region, qualifier });
  }
  return [...found.values()];
}

/** Separates `-c a=b`, `--context a=b` and `--context=a=b` from all other flags. */
function splitContextFlags(flags: readonly string[]): { context: string[]; others: string[] } {
  const context: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < flags.length; index++) {
    const flag = flags[index] ?? '';
    const value = flags[index + 1];
    if (CONTEXT_FLAGS.has(flag) && value !== undefined) {
      context.push('--context', value);
      index += 1;
    } else if (flag.startsWith('--context=')) {
      context.push('--context', flag.slice('--context='.length));
    } else {
      others.push(flag);
    }
  }
  return { context, others };
}

function flagValue(name: string, flags: readonly string[]): string | undefined {
  const index = flags.indexOf(name);
  if (index >= 0) return flags[index + 1];
  return flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1);
}
