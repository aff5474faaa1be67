import {
  ContextError,
  corsOrigins,
  hostPorts,
  matching,
  oneOf,
  oneOfNumbers,
  onOff,
  secretArn,
  textOf,
  wholeNumber,
  zoneIds,
} from './parsers.ts';

export type ProfileName = 'hobby' | 'team' | 'public';

/** What one deployment is told: CDK context (`-c name=value`, or `context` in cdk.json), read once and validated. */
export interface DeploymentSettings {
  /** What the operator wants to run. @default 'team' */
  readonly profile: ProfileName;
  /** Several stages fit in one account; the stack is called after it. @default 'main' */
  readonly stage: string;
  /** Of the functions and the stream tasks. @default the builder's, so that the image is built without emulation */
  readonly architecture: Architecture;
  /** What /api/App reports; `Development` adds the page at /swagger. @default 'Production' */
  readonly reelayEnvironment: 'Production' | 'Development';
  /** Origins whose pages may read answers, or `*`. @default none */
  readonly corsAllowedOrigins: readonly string[];
  /** A name of your own for the base URL; its DNS record is yours to make. Needs `certificateArn`. */
  readonly domain?: string;
  /** A certificate for `domain`, in us-east-1, where CloudFront looks for it. */
  readonly certificateArn?: string;
  /** ARN of a secret with a comma list of proxies that resolves and streams leave through. */
  readonly outgoingProxiesSecret?: string;
  /** ARN of a secret with a Netscape cookies file: whoever asks is served what that account may see. */
  readonly cookiesSecret?: string;
  /** Who is told of alarms and of the budget. Without it both are only shown. */
  readonly alarmEmail?: string;
  /** US dollars a month of the whole account at which the budget warns. @default by profile */
  readonly monthlyBudget?: number;
  readonly toolsChannel: 'stable' | 'nightly';
  /** The release of yt-dlp to run, of the channel: to stay at one, or go back to it. @default the newest that works */
  readonly toolsVersion?: string;
  /** Hours between looks for newer tools; 0: only on demand. @default 12 */
  readonly toolsUpdateHours: number;
  /** `host:port` pairs that the egress guard admits though their addresses are private. */
  readonly egressAllow: readonly string[];
  /** Entries of a playlist at most. @default 200 */
  readonly playlistLimit: number;
  /** Whether links to search results are resolved. @default false */
  readonly search: boolean;
  /** FFmpeg processes at once of one task. @default the service's own */
  readonly maxFfmpeg?: number;
  /** Streams at once of one task. @default the service's own, by memory */
  readonly maxStreams?: number;
  /** Streams at once of one client address. @default the service's own */
  readonly maxStreamsPerClient?: number;
  /** CPU units of a task (1,024 is one core). @default by profile */
  readonly taskCpu?: number;
  /** MiB of a task. @default by profile */
  readonly taskMemory?: number;
  /** Tasks that always run. @default by profile */
  readonly minTasks?: number;
  readonly maxTasks?: number;
  /** Entries of one playlist resolved at once; all of them count against the account's concurrent functions. @default by profile */
  readonly entriesAtOnce?: number;
  /** MB of the resolver; Lambda gives CPU in proportion. @default 2048 */
  readonly resolverMemory: number;
  /** Minutes without a stream after which a task on demand ends. @default 15 */
  readonly idleMinutes: number;
  /** Days that logs are kept. @default 30 */
  readonly logDays: number;
  /** Zone ids for the tasks, where the region's usual ones do not do. */
  readonly zones?: readonly [string, string];
}

/** In Lambda's spelling. */
export type Architecture = 'x86_64' | 'arm64';

/** MiB that Fargate gives to so many CPU units: from, to, in steps of. */
const TASK_SIZES: Readonly<Record<number, readonly [from: number, to: number, step: number]>> = {
  256: [512, 2048, 512],
  512: [1024, 4096, 1024],
  1024: [2048, 8192, 1024],
  2048: [4096, 16_384, 1024],
  4096: [8192, 30_720, 1024],
  8192: [16_384, 61_440, 4096],
  16384: [32_768, 122_880, 8192],
};

/** What CloudWatch accepts as a retention, in days. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

/** How each setting is read from its text. */
const PARSERS = {
  profile: oneOf('hobby', 'team', 'public'),
  // The stack of another stage's firewall ends in -edge.
  stage: matching(
    /^(?!.*-edge$)[a-z][a-z0-9-]{0,18}[a-z0-9]$/,
    'small letters, digits and hyphens, 2 to 20, a letter first, and not end in -edge',
  ),
  architecture: oneOf('x86_64', 'arm64'),
  reelayEnvironment: oneOf('Production', 'Development'),
  corsAllowedOrigins: corsOrigins,
  domain: matching(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, 'a host name'),
  certificateArn: matching(
    /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
    'the ARN of a certificate in us-east-1',
  ),
  outgoingProxiesSecret: secretArn,
  cookiesSecret: secretArn,
  alarmEmail: matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'),
  monthlyBudget: wholeNumber(1, 1_000_000),
  toolsChannel: oneOf('stable', 'nightly'),
  toolsVersion: matching(/^\d{4}\.\d{2}\.\d{2}(\.\d{1,8})?$/, 'a release of yt-dlp such as 2026.11.20'),
  toolsUpdateHours: wholeNumber(0, 24 * 30),
  egressAllow: hostPorts,
  playlistLimit: wholeNumber(1, 1000),
  search: onOff,
  maxFfmpeg: wholeNumber(1, 10_000),
  maxStreams: wholeNumber(1, 100_000),
  maxStreamsPerClient: wholeNumber(1, 100_000),
  taskCpu: oneOfNumbers(...Object.keys(TASK_SIZES).map(Number)),
  taskMemory: wholeNumber(512, 122_880),
  minTasks: wholeNumber(1, 500),
  maxTasks: wholeNumber(1, 500),
  entriesAtOnce: wholeNumber(1, 100),
  resolverMemory: wholeNumber(1024, 10_240),
  idleMinutes: wholeNumber(1, 24 * 60),
  logDays: oneOfNumbers(...LOG_DAYS),
  zones: zoneIds,
} as const;

type Name = keyof typeof PARSERS;
type Values = { -readonly [N in Name]?: ReturnType<(typeof PARSERS)[N]> };

/** Why some settings of the service on one machine are none here. */
const NOT_HERE: Readonly<Record<string, string>> = {
  outgoingProxies: 'would lie open in the template: put it into a secret and set outgoingProxiesSecret to its ARN',
  cookiesFile: 'would lie open in the template: put it into a secret and set cookiesSecret to its ARN',
  trustedProxies: 'is known: the edge and the load balancer',
  host: 'is for the service on one machine',
  port: 'is for the service on one machine',
  dataDir: 'is for the service on one machine',
  toolsDir: 'is for the service on one machine',
  ytDlpPath: 'is for the service on one machine',
  ffmpegPath: 'is for the service on one machine',
};

/**
 * Reads the settings among the context. Names that are not letters alone are CDK's own and passed over.
 * @param builderArchitecture as Node calls it
 * @throws ContextError in one line that names the setting
 */
export function readContext(
  context: Readonly<Record<string, unknown>>,
  builderArchitecture: string = process.arch,
): DeploymentSettings {
  const values: Values = {};
  for (const [name, value] of Object.entries(context)) {
    if (!/^[a-zA-Z]+$/.test(name)) continue;
    if (!isName(name)) throw new ContextError(`${name} ${NOT_HERE[name] ?? 'is no setting of this service'}`);
    const text = textOf(name, value);
    if (text !== '') Object.assign(values, { [name]: PARSERS[name](name, text) });
  }
  const settings: DeploymentSettings = {
    profile: 'team',
    stage: 'main',
    architecture: builderArchitecture === 'arm64' ? 'arm64' : 'x86_64',
    reelayEnvironment: 'Production',
    corsAllowedOrigins: [],
    toolsChannel: 'stable',
    toolsUpdateHours: 12,
    egressAllow: [],
    playlistLimit: 200,
    search: false,
    resolverMemory: 2048,
    idleMinutes: 15,
    logDays: 30,
    ...values,
  };
  checkTogether(settings);
  return settings;
}

/** Of an ARN: `arn:partition:service:region:account:…` */
const placeOf = (arn: string) => ({ region: arn.split(':')[3], account: arn.split(':')[4] });

/**
 * What is right by itself and wrong where the stack goes: it would be found out at the first start, or at the end of a
 * deployment.
 * @throws ContextError in one line that names the setting
 */
export function checkPlace(settings: DeploymentSettings, env: { readonly account?: string; readonly region?: string }) {
  for (const name of ['outgoingProxiesSecret', 'cookiesSecret'] as const) {
    const { region } = placeOf(settings[name] ?? '');
    if (region && env.region && region !== env.region)
      throw new ContextError(`${name} must be a secret in ${env.region}, where the stack is, not in ${region}`);
  }
  const { account } = placeOf(settings.certificateArn ?? '');
  if (account && env.account && account !== env.account)
    throw new ContextError(`certificateArn must be a certificate of the account ${env.account}, not of ${account}`);
}

const isName = (name: string): name is Name => Object.hasOwn(PARSERS, name);

/** What is right by itself and wrong together. */
function checkTogether(settings: DeploymentSettings): void {
  const { domain, certificateArn, taskCpu, taskMemory, minTasks, maxTasks, profile } = settings;
  if (domain && !certificateArn) throw new ContextError('domain needs certificateArn, a certificate in us-east-1');
  if (certificateArn && !domain) throw new ContextError('certificateArn needs domain, the name it is for');
  if ((taskCpu === undefined) !== (taskMemory === undefined)) {
    throw new ContextError(`${taskCpu === undefined ? 'taskMemory needs taskCpu' : 'taskCpu needs taskMemory'}`);
  }
  if (taskCpu !== undefined && taskMemory !== undefined) checkTaskSize(taskCpu, taskMemory);
  if (profile === 'hobby' && (minTasks ?? maxTasks) !== undefined) {
    throw new ContextError(`${minTasks ? 'minTasks' : 'maxTasks'} is for team and public: hobby runs one task at most`);
  }
}

function checkTaskSize(cpu: number, memory: number): void {
  const [from, to, step] = TASK_SIZES[cpu] ?? [0, 0, 1];
  const fits = memory >= from && memory <= to && (memory % step === 0 || (cpu === 256 && memory === 512));
  if (!fits) throw new ContextError(`taskMemory must be ${from} to ${to} in steps of ${step} with taskCpu ${cpu}`);
}
