import { oneMachineSettings } from './one-machine-settings.ts';
import { dollars, flag, matching, oneOf, oneOfNumbers, secretArn, wholeNumber, zoneIds } from './parsers.ts';
import { inScope } from './setting.ts';
import { sharedSettings } from './shared-settings.ts';

/** CPU units of a Fargate task (1,024 are one core). */
const TASK_CPU_UNITS = [256, 512, 1024, 2048, 4096, 8192, 16_384];
/** Retention periods of CloudWatch Logs in days. */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

/** Settings of a deployment alone, read from CDK context. */
const deploymentSettings = inScope('aws', {
  profile: {
    parse: oneOf('hobby', 'team', 'public'),
    default: 'team',
    description: 'Size and cost. Keep it in `cdk.json`: a deployment does not remember the last one',
  },
  stage: {
    parse: matching(
      // The firewall stack of another stage is called reelay-STAGE-edge-REGION.
      /^(?!.*-edge(?:-|$))[a-z][a-z0-9-]{0,18}[a-z0-9]$/,
      '2 to 20 small letters, digits and hyphens, a letter first, without -edge',
    ),
    default: 'main',
    description: 'Name of the deployment; several stages fit in one account',
  },
  architecture: {
    parse: oneOf('x86_64', 'arm64'),
    default: 'arm64',
    description: 'Processor of functions and tasks; `arm64` costs about a fifth less',
  },
  streamImage: {
    parse: matching(
      /^(docker|codebuild|[a-z0-9][\w./:-]{0,254}@sha256:[0-9a-f]{64})$/,
      'docker, codebuild or an image with its digest such as host.example/reelay-stream@sha256:…',
    ),
    default: 'docker',
    description:
      'The image of the stream task: built by Docker on the machine that deploys, by CodeBuild in the account, or a public one of this version that is named with its digest',
  },
  domain: {
    parse: matching(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, 'a host name'),
    defaultText: "CloudFront's",
    description:
      'Host name of the base URL; needs `certificateArn`, and a DNS record, which the deployment creates in `hostedZone`',
  },
  hostedZone: {
    parse: matching(/^Z[A-Z0-9]{1,31}$/, 'the id of a hosted zone'),
    description: 'Zone of Route 53 in the account that receives the A and AAAA records of `domain`',
  },
  certificateArn: {
    parse: matching(/^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/, 'the ARN of a certificate in us-east-1'),
    description: 'Certificate for `domain`; CloudFront reads those of us-east-1 alone',
  },
  deletionProtection: {
    parse: flag,
    defaultText: '`on` for `public`',
    description: 'CloudFormation refuses to delete the stack, but for `npm run infra -- destroy --unprotect`',
  },
  retainTable: {
    parse: flag,
    default: false,
    description: 'Keeps the table, and its cost, when the stack is deleted',
  },
  originSecretRotation: {
    parse: matching(/^[\w.-]{1,40}$/, 'up to 40 letters, digits, dots, hyphens and underscores, such as a date'),
    description:
      'A new value rotates the secret by which functions recognize the edge. The previous secret is accepted until the next rotation',
  },
  accessKeysSecret: {
    parse: secretArn,
    description:
      'Makes the instance private: access keys of 16 characters or more, one per line or separated by commas',
  },
  outgoingProxiesSecret: {
    variable: 'OUTGOING_PROXIES_SECRET',
    parse: secretArn,
    description: 'Proxies for resolves and streams, one per line or separated by commas',
    passedTo: ['resolver', 'stream-task'],
  },
  cookiesSecret: {
    variable: 'COOKIES_SECRET',
    parse: secretArn,
    description: 'A Netscape cookies file. Every client of the service can fetch what its account may see',
    passedTo: ['resolver', 'stream-task'],
  },
  pluginsLayerArn: {
    parse: matching(
      /^arn:aws[\w-]*:lambda:[a-z0-9-]+:\d{12}:layer:[\w-]+:\d+$/,
      'the ARN of a layer version such as arn:aws:lambda:eu-central-1:111111111111:layer:plugins:1',
    ),
    description: 'Layer with a folder `yt-dlp-plugins`. Plugins run with the rights of the resolver',
  },
  alarmEmail: {
    parse: matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'),
    description: 'Recipient of alarms and budget warnings; without it both are only shown',
  },
  monthlyBudget: {
    parse: wholeNumber(0, 1_000_000),
    defaultText: 'by profile',
    description: 'US dollars a month of the whole account; the budget only warns, and needs `alarmEmail`. 0: none',
  },
  dailyCap: {
    parse: dollars(0.1, 1_000_000),
    defaultText: 'by profile',
    description:
      'US dollars a day (UTC) that traffic may cost by list prices. At the cap the edge answers 503 until the day ends',
  },
  hourlyCap: {
    parse: dollars(0.1, 1_000_000),
    defaultText: 'half of `dailyCap`',
    description: 'The same for an hour',
  },
  monthlyCap: {
    parse: dollars(0.1, 100_000_000),
    defaultText: 'ten times `dailyCap`',
    description: 'The same for a month',
  },
  pricingPlan: {
    parse: oneOf('none', 'free', 'pro', 'business', 'premium'),
    default: 'none',
    description: '[Flat-rate plan](operating-aws.md#profiles) of CloudFront: the edge costs its monthly price',
  },
  toolsVersion: {
    parse: matching(/^\d{4}\.\d{2}\.\d{2}(\.\d{1,8})?$/, 'a release of yt-dlp such as 2026.11.20'),
    defaultText: 'the newest that works',
    description: 'Release of yt-dlp to stay at, within `toolsChannel`',
  },
  taskCpu: {
    parse: oneOfNumbers(...TASK_CPU_UNITS),
    defaultText: 'by profile',
    description: 'CPU units of a stream task, 1,024 per core; needs `taskMemory`',
  },
  taskMemory: {
    parse: wholeNumber(512, 122_880),
    defaultText: 'by profile',
    description: 'MiB of a stream task; needs `taskCpu`',
  },
  minTasks: {
    parse: wholeNumber(1, 500),
    defaultText: 'by profile',
    description: 'Stream tasks that always run; not for `hobby`',
  },
  maxTasks: {
    parse: wholeNumber(1, 500),
    defaultText: 'by profile',
    description: 'Maximum number of stream tasks; not for `hobby`',
  },
  entriesAtOnce: {
    parse: wholeNumber(1, 100),
    defaultText: 'by profile',
    description: 'Entries of a list resolved at once; each uses a concurrent Lambda execution',
  },
  resolverConcurrency: {
    parse: wholeNumber(2, 10_000),
    defaultText: 'by profile',
    description:
      'Executions of the resolver at once, above `entriesAtOnce`; bounds its bill. Lambda keeps 100 unreserved: in a new account a value that is set fails the deployment, the default gives way to the quota',
  },
  resolveRate: {
    parse: wholeNumber(1, 10_000),
    defaultText: 'by profile',
    description:
      'Requests a second that each route that resolves links admits, with bursts of five seconds. The whole API admits five times as many',
  },
  resolverProvisioned: {
    parse: wholeNumber(0, 1_000),
    default: 0,
    description:
      'Environments of the resolver that Lambda keeps initialized, against cold starts; at most `resolverConcurrency`. $18 a month each at 2,048 MB on ARM; not for `hobby`',
  },
  resolverMemory: {
    parse: wholeNumber(1024, 10_240),
    default: 2048,
    description: 'MB of the resolver function; Lambda assigns CPU in proportion',
  },
  idleMinutes: {
    parse: wholeNumber(1, 24 * 60),
    default: 15,
    description: 'Minutes without a stream after which the on-demand task of `hobby` ends',
  },
  logDays: {
    parse: oneOfNumbers(...LOG_RETENTION_DAYS),
    default: 30,
    description: 'Days that logs are retained',
  },
  zones: {
    parse: zoneIds,
    defaultText: 'two of the region',
    description: 'Availability zones of the stream tasks, where the default ones lack a feature',
  },
});

/**
 * Every setting, once. It drives reading the environment (`readSettings`), CDK context (`readContextSettings`), the
 * variables that the stack sets (`variablesFor`) and their reference.
 */
export const settingsTable = { ...sharedSettings, ...oneMachineSettings, ...deploymentSettings } as const;
