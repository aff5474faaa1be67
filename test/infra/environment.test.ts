import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { readTaskSettings } from '../../stream-service/task/task-settings.ts';
import { PROFILE_NAMES, template } from './deployments.ts';
import { EUROPE, FUNCTIONS, synthesize } from './synth.ts';
import { onlyResource, resourcesOfType } from './template.ts';

const ROOT = join(import.meta.dirname, '../..');

/** With every setting that becomes a variable, secrets aside: those would be fetched. */
const full = async (profile: string) =>
  (
    await synthesize(
      {
        ...{ profile, corsAllowedOrigins: 'https://page.example', egressAllow: 'media.example:8080', search: 'on' },
        toolsVersion: '2026.11.20',
        ...{ playlistLimit: '50', maxFfmpeg: '2', maxStreams: '30', maxStreamsPerClient: '5' },
      },
      EUROPE,
    )
  ).templates['reelay-main'] ?? { Resources: {} };
const deployed = { hobby: await full('hobby'), team: await full('team') };

/** What stands for a value that is known at deployment. */
const plain = (value: unknown): string => (typeof value === 'string' ? value : 'known-at-deployment');

function variablesOf(name: string): Record<string, string> {
  const found = resourcesOfType(deployed.hobby, 'AWS::Lambda::Function').find(
    ({ properties }) => String(properties.Description) === `Reelay ${name}`,
  );
  const { Variables = {} } = (found?.properties.Environment ?? {}) as { Variables?: Record<string, unknown> };
  return Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, plain(value)]));
}

/** The environment, and the names that were asked of it one by one. */
function recorded(variables: Record<string, string>) {
  const read = new Set<string>();
  let copied: string | symbol | undefined;
  const environment = new Proxy(variables, {
    getOwnPropertyDescriptor(target, key) {
      copied = key;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    get(target, key) {
      // Who copies all of it asks for nothing yet.
      if (typeof key === 'string' && key !== copied) read.add(key);
      copied = undefined;
      return Reflect.get(target, key);
    },
  });
  return { environment, read };
}

const settingsRead = () => {
  const { environment, read } = recorded({});
  readSettings(environment);
  return read;
};

/** What Lambda, ECS, the SDK and libraries name. */
const OTHERS =
  /^(AWS_|_X_AMZN|LAMBDA_|POWERTOOLS_|NODE_|FORCE_COLOR|NO_COLOR|COLORTERM|TERM|CI$|VITEST|DEBUG|UNDICI|WATCH_REPORT_DEPENDENCIES|ENVIRONMENT$|LOG_LEVEL|TMPDIR|TMP$|TEMP$|HOME|PATH$|ECS_AGENT_URI)/;
/** Settings of one machine, which functions read with the others and leave at their defaults. */
const OF_ONE_MACHINE = [
  'ALLOWED_HOSTS',
  'HOST',
  'PORT',
  'DATA_DIR',
  'DATA_MAX_BYTES',
  'TOOLS_DIR',
  'TOOLS_UPDATE_HOURS',
  'YT_DLP_PATH',
  'FFMPEG_PATH',
];
const OF_STREAMS = ['MAX_FFMPEG', 'MAX_STREAMS', 'MAX_STREAMS_PER_CLIENT', 'TRUSTED_PROXIES'];
/** Become of secrets, or are set where a secret is named. */
const SECRETS = ['OUTGOING_PROXIES', 'COOKIES_FILE', 'OUTGOING_PROXIES_SECRET', 'COOKIES_SECRET'];
const OF_RESOLVES = ['EGRESS_ALLOW', 'MAX_RESOLVES_PER_CLIENT', 'PLAYLIST_LIMIT', 'SEARCH', 'TOOLS_CHANNEL'];

/** What every function is told, whether or not it asks: who it is. */
const COMMON = ['STAGE', 'POWERTOOLS_SERVICE_NAME', 'POWERTOOLS_METRICS_NAMESPACE', 'REELAY_ENVIRONMENT'];
/** What is asked for and not told, with its default meant. */
const NOT_TOLD: Readonly<Record<string, readonly string[]>> = {
  'get-resource': ['TOOLS_LAYER_DIR'],
  // CloudFront's signature stands for the secret.
  wake: ['ORIGIN_SECRET'],
  'tools-layer': ['RESOLVER_FUNCTION'],
};

beforeEach(() => {
  vi.resetModules();
});
const real = process.env;
afterEach(() => {
  process.env = real;
});

describe.each(FUNCTIONS)('%s', (name) => {
  const given = variablesOf(name);
  const load = async () => {
    const { environment, read } = recorded({ ...given, AWS_REGION: 'eu-central-1', AWS_LAMBDA_FUNCTION_NAME: name });
    process.env = environment;
    const { handler } = await import(`../../lambdas/entries/${name}.ts`);
    process.env = real;
    expect(handler).toBeInstanceOf(Function);
    return new Set([...read, ...(name === 'get-resource' ? settingsRead() : [])]);
  };

  it('starts with what the stack tells it, and is told nothing that it does not ask for', async () => {
    const read = await load();
    expect(Object.keys(given)).toEqual(expect.arrayContaining(COMMON));
    expect(Object.keys(given).filter((key) => !COMMON.includes(key) && !read.has(key))).toEqual([]);
    const meant = [...OF_ONE_MACHINE, ...OF_STREAMS, ...SECRETS, ...(NOT_TOLD[name] ?? [])];
    const elsewhere = name === 'get-resource' ? ['TOOLS_CHANNEL', 'MAX_RESOLVES_PER_CLIENT'] : OF_RESOLVES;
    const untold = [...read].filter((key) => !(key in given) && !OTHERS.test(key));
    expect(untold.filter((key) => ![...meant, ...elsewhere].includes(key))).toEqual([]);
  });
});

describe.each(['hobby', 'team'] as const)('the stream task of %s', (profile) => {
  const [container] = onlyResource(deployed[profile], 'AWS::ECS::TaskDefinition').ContainerDefinitions as never as [
    { Name: string; Environment: { Name: string; Value: unknown }[] },
  ];
  const given = Object.fromEntries(container.Environment.map(({ Name, Value }) => [Name, plain(Value)]));
  const dockerfile = readFileSync(join(ROOT, 'stream-service/Dockerfile'), 'utf8');
  const ofImage = Object.fromEntries(
    [...dockerfile.matchAll(/([A-Z_]+)=([^\s\\]+)/g)].map(([, name = '', value = '']) => [name, value]),
  );

  it('is told what it asks for, by the stack or by its image, and nothing else', () => {
    const { environment, read } = recorded({ ...ofImage, ...given });
    const settings = readSettings(environment);
    const task = readTaskSettings(environment);
    expect(settings).toMatchObject({ host: '0.0.0.0', port: 8080, maxStreams: 30, maxFfmpeg: 2, playlistLimit: 50 });
    expect(task).toMatchObject({ idleMinutes: profile === 'hobby' ? 15 : 0, stage: 'main' });
    expect(Object.keys(given).filter((key) => !read.has(key) && !OTHERS.test(key))).toEqual([]);
    const untold = [...read].filter((key) => !(key in given) && !(key in ofImage) && !OTHERS.test(key));
    // The pointer decides which tools; the secret comes with each wake.
    const meant = [
      'TOOLS_CHANNEL',
      'TOOLS_UPDATE_HOURS',
      'YT_DLP_PATH',
      'ORIGIN_SECRET',
      'DATA_MAX_BYTES',
      ...SECRETS,
      'ALLOWED_HOSTS',
      'MAX_RESOLVES_PER_CLIENT',
    ];
    expect(untold.filter((key) => !meant.includes(key))).toEqual([]);
  });
});

it('wakes the container that is defined, in the task that is defined', () => {
  const given = variablesOf('wake');
  const [container] = onlyResource(deployed.hobby, 'AWS::ECS::TaskDefinition').ContainerDefinitions as never as [
    { Name: string },
  ];
  expect(given.CONTAINER_NAME).toBe(container.Name);
  expect(variablesOf('register').TASK_FAMILY).toBe(onlyResource(deployed.hobby, 'AWS::ECS::TaskDefinition').Family);
});

it.each(PROFILE_NAMES)('tells every secret of %s by reference alone', (name) => {
  for (const { properties } of resourcesOfType(template(name), 'AWS::Lambda::Function')) {
    const { Variables = {} } = (properties.Environment ?? {}) as { Variables?: Record<string, unknown> };
    if ('ORIGIN_SECRET' in Variables)
      expect(Variables.ORIGIN_SECRET).toEqual({ 'Fn::GetAtt': ['OriginSecret', 'Accepted'] });
  }
});
