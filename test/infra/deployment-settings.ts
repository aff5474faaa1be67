import type { Environment } from 'aws-cdk-lib';

const EUROPE: Environment = { account: '111111111111', region: 'eu-central-1' };
const VIRGINIA: Environment = { account: '111111111111', region: 'us-east-1' };
const IRELAND: Environment = { ...EUROPE, region: 'eu-west-1' };
const STOCKHOLM: Environment = { ...EUROPE, region: 'eu-north-1' };
const CANADA: Environment = { ...EUROPE, region: 'ca-central-1' };

export const DOMAIN = {
  domain: 'media.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0a1b2c3d-0000-1111-2222-333344445555',
};
export const SECRET = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:cookies-AbCdEf';
export const PLUGINS_LAYER = 'arn:aws:lambda:eu-central-1:111111111111:layer:plugins:3';
export const EXTRACTOR_ARGS = 'youtube:player_client=web,mweb;skip=dash provider:url=https://tokens.example';
/** A release of yt-dlp. */
export const PINNED_RELEASE = '2026.11.01';

/** An image of the stream task in a public registry. */
export const NAMED_IMAGE = `images.example/reelay-stream:1.0@sha256:${'a'.repeat(64)}`;

const ARM = { architecture: 'arm64' };
const BLUE_TEAM = { profile: 'team', stage: 'blue' };
const ROTATED = { originSecretRotation: 'next', zones: 'use1-az1,use1-az2' };
const PRIVATE = { ...ARM, accessKeysSecret: 'arn:aws:secretsmanager:us-east-1:111111111111:secret:access-keys-AbCdEf' };
/** Every setting that becomes a variable, except secrets, which would be fetched. */
const FULL = {
  corsAllowedOrigins: 'https://page.example',
  egressAllow: 'media.example:8080',
  search: 'on',
  accessKeysSecret: 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:access-keys-AbCdEf',
  securityContact: 'mailto:security@media.example',
  toolsVersion: '2026.11.20',
  canaryLinks: 'https://site.example/watch',
  sponsorblockUrl: 'https://segments.example',
  playlistLimit: '50',
  maxFfmpeg: '2',
  maxStreams: '30',
  maxStreamsPerClient: '5',
};

export type DeploymentSettings = readonly [settings: Readonly<Record<string, unknown>>, env?: Environment];

/**
 * Every deployment that tests synthesize, by name: its settings, and its account and region where they are known. In one
 * table, so that `npm test` synthesizes them in one process (`synthesize-all.ts`).
 */
export const DEPLOYMENTS = {
  hobby: [{ profile: 'hobby', ...ARM }],
  team: [{ profile: 'team', ...ARM }],
  public: [{ profile: 'public', ...ARM }],
  'blue hobby': [{ profile: 'hobby', stage: 'blue' }, EUROPE],
  'blue team': [{ ...BLUE_TEAM, ...ARM, ...DOMAIN, hostedZone: 'Z0123456789ABC' }, VIRGINIA],
  'blue public': [
    {
      profile: 'public',
      stage: 'blue',
      alarmEmail: 'ops@example.com',
      corsAllowedOrigins: 'https://page.example',
      cookiesSecret: SECRET,
      entriesAtOnce: 60,
      resolverConcurrency: 90,
      pluginsLayerArn: PLUGINS_LAYER,
      ytDlpExtractorArgs: EXTRACTOR_ARGS,
    },
    EUROPE,
  ],
  'private hobby': [{ profile: 'hobby', accessKeysSecret: SECRET.replace('cookies', 'access-keys') }, EUROPE],

  'hobby in us-east-1': [{ profile: 'hobby' }, VIRGINIA],
  'team in us-east-1': [{ profile: 'team' }, VIRGINIA],
  'public in us-east-1': [{ profile: 'public' }, VIRGINIA],
  'public in us-east-1, again': [{ profile: 'public' }, VIRGINIA],
  'public in eu-central-1': [{ profile: 'public' }, EUROPE],
  'team in eu-north-1': [{ profile: 'team', alarmEmail: 'ops@example.com' }, STOCKHOLM],
  'public in eu-west-1': [{ profile: 'public' }, IRELAND],
  'defaults in ca-central-1': [{}, CANADA],

  'hobby with a plan': [{ profile: 'hobby', pricingPlan: 'pro' }, EUROPE],

  'hobby built in the account': [{ profile: 'hobby', streamImage: 'codebuild' }, EUROPE],
  'team of a named image': [{ profile: 'team', streamImage: NAMED_IMAGE }, EUROPE],

  'hobby with every setting': [{ profile: 'hobby', ...FULL }, EUROPE],
  'team with every setting': [{ profile: 'team', ...FULL }, EUROPE],
  'blue hobby in us-east-1': [{ profile: 'hobby', stage: 'blue' }, VIRGINIA],
  'blue team without zones': [BLUE_TEAM, EUROPE],
  'blue team in zones 1, 2': [{ ...BLUE_TEAM, zones: 'euc1-az1,euc1-az2' }, EUROPE],
  'blue team in zones 2, 3': [{ ...BLUE_TEAM, zones: 'euc1-az2,euc1-az3' }, EUROPE],
  'blue team in zones 2, 1': [{ ...BLUE_TEAM, zones: 'euc1-az2,euc1-az1' }, EUROPE],

  'rotated hobby': [{ profile: 'hobby', ...ARM, ...ROTATED }],
  'rotated team': [{ profile: 'team', architecture: 'x86_64', ...ROTATED }],
  'team in other zones': [{ profile: 'team', ...ARM, zones: 'use1-az2,use1-az3' }],
  'team, 1 provisioned': [{ profile: 'team', ...ARM, resolverProvisioned: '1' }],
  'public, 2 provisioned': [{ profile: 'public', ...ARM, resolverProvisioned: '2' }],
  'public, 3 provisioned': [{ profile: 'public', ...ARM, resolverProvisioned: '3' }],
  'public, 5 provisioned': [{ profile: 'public', ...ARM, resolverProvisioned: '5' }],
  'private hobby, to change': [{ profile: 'hobby', ...PRIVATE }],
  'private team, to change': [{ profile: 'team', ...PRIVATE }],
  'hobby with a retained table': [{ profile: 'hobby', retainTable: 'on', deletionProtection: 'on' }],
  'hobby with a pinned release': [{ profile: 'hobby', ...ARM, toolsVersion: PINNED_RELEASE }],
} satisfies Record<string, DeploymentSettings>;

export type SynthesizedName = keyof typeof DEPLOYMENTS;

/** Those that `*.all.test.ts` alone compare. */
export const OF_ALL_TESTS: readonly SynthesizedName[] = [
  'team in eu-north-1',
  'hobby built in the account',
  'team of a named image',
  'public in eu-west-1',
  'hobby with every setting',
  'team with every setting',
  'rotated hobby',
  'rotated team',
  'team in other zones',
  'team, 1 provisioned',
  'public, 2 provisioned',
  'public, 3 provisioned',
  'public, 5 provisioned',
  'private hobby, to change',
  'private team, to change',
  'hobby with a pinned release',
];
