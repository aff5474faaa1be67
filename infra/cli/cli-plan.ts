import { join } from 'node:path';

/** An account and region that something is deployed into. */
export interface DeploymentTarget {
  readonly account: string;
  readonly region: string;
  /** CDK's, where it puts what it deploys. */
  readonly bucket: string;
}

/** What CDK is asked to do, as its arguments. */
export interface CommandPlan {
  /** Makes the cloud assembly, once. */
  readonly synth: readonly string[];
  /** Absent: that was all. */
  readonly run?: readonly string[];
  /** Where the outputs will be. */
  readonly outputs?: string;
  /** Of AWS's own configuration, as `--profile` names it. */
  readonly awsProfile?: string;
  bootstrap(place: DeploymentTarget): readonly string[];
}

/** A cloud assembly's manifest, as far as it is looked at. */
export interface Manifest {
  readonly artifacts?: Readonly<
    Record<string, { type: string; environment?: string; properties?: { stackTemplateAssetObjectUrl?: string } }>
  >;
}

interface CommandPlanOptions {
  /** The command that describes the app. */
  readonly app: string;
  /** An empty folder. */
  readonly assembly: string;
}

/** Flags that say how the app is described; all others go to what is then done with it. */
const CONTEXT_FLAGS = new Set(['-c', '--context']);

/** Undefined when the command is none of ours. */
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
  if (command === 'synth') return { synth: synth(...others), bootstrap };
  const common = { bootstrap, ...(awsProfile && { awsProfile }) };
  if (command === 'deploy') {
    const outputs = join(assembly, 'outputs.json');
    // Whoever runs this wants what it describes; CDK would ask, and fail where nobody can answer.
    const approval = others.some((flag) => flag.startsWith('--require-approval'))
      ? []
      : ['--require-approval', 'never'];
    const run = ['deploy', '--all', '--app', assembly, '--outputs-file', outputs, ...approval, ...others];
    return { ...common, synth: synth('--output', assembly, ...credentials), run, outputs };
  }
  if (command === 'destroy') {
    // Of all profiles this one has the most stacks: what an earlier deployment of another profile left is found too.
    // Bounds that were set for that one may not fit this one; blank ones are not set.
    const everything = ['profile=public', 'minTasks=', 'maxTasks='].flatMap((setting) => ['--context', setting]);
    const run = ['destroy', '--all', '--app', assembly, ...others];
    return { ...common, synth: synth('--output', assembly, ...everything, ...credentials), run };
  }
  return undefined;
}

/** Where the stacks go, each place once; none when no credentials were found. */
export function findTargets({ artifacts = {} }: Manifest): DeploymentTarget[] {
  const found = new Map<string, DeploymentTarget>();
  for (const { type, environment, properties } of Object.values(artifacts)) {
    const [, account, region] = /^aws:\/\/(\d{12})\/([a-z0-9-]+)$/.exec(environment ?? '') ?? [];
    const [, bucket] = /^s3:\/\/([^/]+)\//.exec(properties?.stackTemplateAssetObjectUrl ?? '') ?? [];
    if (type !== 'aws:cloudformation:stack' || !account || !region || !bucket) continue;
    found.set(`${account}/${region}`, { account, region, bucket });
  }
  return [...found.values()];
}

/** `-c a=b`, `--context a=b` and `--context=a=b`, and the rest. */
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
