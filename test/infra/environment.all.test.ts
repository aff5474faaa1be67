import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { FUNCTION_NAMES } from '../../infra/build/bundle.ts';
import { readTaskSettings } from '../../stream-service/task/start-task.ts';
import { resourcesByRole } from './permissions.ts';
import { mainTemplate } from './synth.ts';
import { containerOf, functionNamed, propertiesOf, resourcesOfType } from './template.ts';

const ROOT = join(import.meta.dirname, '../..');

const deployed = {
  hobby: await mainTemplate('hobby with every setting'),
  team: await mainTemplate('team with every setting'),
};

/** Replaces a value that is known at deployment only. */
const plain = (value: unknown): string => (typeof value === 'string' ? value : 'known-at-deployment');

const plainly = (variables: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, plain(value)]));

/** An environment that records the names of the variables that are read. */
function recorded(variables: Record<string, string>) {
  const read = new Set<string>();
  let copied: string | symbol | undefined;
  const environment = new Proxy(variables, {
    getOwnPropertyDescriptor(target, key) {
      copied = key;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    get(target, key) {
      // A copy of the whole environment reads no variable in particular.
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

/** Variables of Lambda, ECS, the SDK and libraries. */
const OTHERS =
  /^(AWS_|_X_AMZN|LAMBDA_|POWERTOOLS_|NODE_|FORCE_COLOR|NO_COLOR|COLORTERM|TERM|CI$|VITEST|DEBUG|UNDICI|WATCH_REPORT_DEPENDENCIES|ENVIRONMENT$|LOG_LEVEL|TMPDIR|TMP$|TEMP$|HOME|USERPROFILE$|PATH$|ECS_AGENT_URI|ECS_CONTAINER_METADATA)/;
const OF_THE_EDGE = ['SECURITY_CONTACT'];
/** Behind another proxy, on one machine. */
const OF_A_PROXY = ['BASE_PATH', 'PROXY_ADDRESSES', 'USER_HEADER'];
/** Settings of one machine: functions read them with the others and get the defaults. */
const OF_ONE_MACHINE = [
  ...OF_A_PROXY,
  ...['MAX_RESOLVES_PER_CLIENT', 'ALLOWED_HOSTS', 'PUBLIC_URL', 'DATA_MAX_BYTES', 'TOOLS_UPDATE_HOURS', 'CANARY_LINKS'],
  ...['EXTRA_CA_FILE', 'YT_DLP_PATH', 'MAX_REQUESTS_PER_CLIENT', 'SOURCE_ADDRESSES', 'METRICS_PORT', 'METRICS_HOST'],
  'LOG_FORMAT',
];
/** Those that the image of a task sets, or its stack. */
const OF_TASKS = ['HOST', 'PORT', 'DATA_DIR', 'TOOLS_DIR', 'FFMPEG_PATH'];
const OF_STREAMS = ['SEGMENT_PROBES', 'MAX_FFMPEG', 'MAX_STREAMS', 'MAX_STREAMS_PER_CLIENT', 'TRUSTED_PROXIES'];
/** Values of secrets, or set only for single sites. */
const SECRETS = [
  'ACCESS_KEYS',
  'ACCESS_KEYS_FILE',
  'OUTGOING_PROXIES',
  'COOKIES_FILE',
  'COOKIES_DIR',
  'COOKIES_WRITE_BACK',
  'PROXY_RULES',
  'IMPERSONATE',
  'YT_DLP_PLUGINS',
  'YT_DLP_EXTRACTOR_ARGS',
  'OUTGOING_PROXIES_SECRET',
  'COOKIES_SECRET',
  'ACCESS_KEYS_SECRET',
];
const OF_RESOLVES = [
  'EGRESS_ALLOW',
  'PLAYLIST_LIMIT',
  'PROBED_HOSTS',
  'SEARCH',
  'TOOLS_CHANNEL',
  'YOUTUBE_FALLBACK_CLIENT',
];

/** Variables that every function has, read or not. */
const COMMON = ['STAGE', 'POWERTOOLS_SERVICE_NAME', 'POWERTOOLS_METRICS_NAMESPACE', 'REELAY_ENVIRONMENT'];
/** Variables that are read but not set, so that the default applies. */
const LEFT_AT_DEFAULT: Readonly<Record<string, readonly string[]>> = {
  'get-resource': ['TOOLS_LAYER_DIR'],
  'tools-layer': ['RESOLVER_FUNCTION'],
  // Without `alarmEmail`.
  'cost-guard': ['ALARM_TOPIC'],
};

beforeEach(() => {
  vi.resetModules();
});
const real = process.env;
afterEach(() => {
  process.env = real;
});

describe.each(FUNCTION_NAMES)('%s', (name) => {
  const given = plainly(functionNamed(deployed.hobby, name).variables);
  const load = async () => {
    const ofLambda = { AWS_REGION: 'eu-central-1', AWS_LAMBDA_FUNCTION_NAME: name };
    // JSON that is known at deployment.
    const { environment, read } = recorded({ ...given, SPENDING_PLAN: '{}', ...ofLambda });
    process.env = environment;
    const { handler } = await import(`../../lambdas/entries/${name}.ts`);
    process.env = real;
    expect(handler).toBeInstanceOf(Function);
    return new Set([...read, ...(name === 'get-resource' ? settingsRead() : [])]);
  };

  it('gets every variable that it reads, and no other', async () => {
    const read = await load();
    expect(Object.keys(given)).toEqual(expect.arrayContaining(COMMON));
    expect(Object.keys(given).filter((key) => !COMMON.includes(key) && !read.has(key))).toEqual([]);
    const intended = [
      ...OF_THE_EDGE,
      ...OF_ONE_MACHINE,
      ...OF_TASKS,
      ...OF_STREAMS,
      ...SECRETS,
      ...(LEFT_AT_DEFAULT[name] ?? []),
    ];
    const elsewhere = name === 'get-resource' ? ['TOOLS_CHANNEL'] : OF_RESOLVES;
    const unset = [...read].filter((key) => !(key in given) && !OTHERS.test(key));
    expect(unset.filter((key) => ![...intended, ...elsewhere].includes(key))).toEqual([]);
  });
});

describe.each(['hobby', 'team'] as const)('the stream task of %s', (profile) => {
  const given = plainly(containerOf(deployed[profile]).variables);
  const dockerfile = readFileSync(join(ROOT, 'stream-service/Dockerfile'), 'utf8');
  const ofImage = Object.fromEntries(
    [...dockerfile.matchAll(/([A-Z_]+)=([^\s\\]+)/g)].map(([, name = '', value = '']) => [name, value]),
  );

  it('gets every variable that it reads from the stack or its image, and no other', () => {
    const { environment, read } = recorded({ ...ofImage, ...given });
    const settings = readSettings(environment);
    const task = readTaskSettings(environment);
    expect(settings).toMatchObject({ host: '0.0.0.0', port: 8080, maxStreams: 30, maxFfmpeg: 2, playlistLimit: 50 });
    expect(task).toMatchObject({ idleMinutes: profile === 'hobby' ? 15 : 0, stage: 'main' });
    const unread = Object.keys(given).filter((key) => !read.has(key) && !OTHERS.test(key));
    expect(unread).toEqual([]);
    const unset = [...read].filter((key) => !(key in given) && !(key in ofImage) && !OTHERS.test(key));
    // The pointer selects the tools; a load balancer knows the address of a task.
    const ofHost = profile === 'team' ? ['HOST_FUNCTION'] : [];
    const intended = ['TOOLS_CHANNEL', ...OF_ONE_MACHINE, ...SECRETS, ...OF_THE_EDGE, ...ofHost];
    expect(unset.filter((key) => !intended.includes(key))).toEqual([]);
  });
});

describe.each(['hobby', 'team'] as const)('the access keys of %s', (profile) => {
  it('are readable by the function that copies their hashes alone', () => {
    const readers = resourcesByRole(deployed[profile], 'secretsmanager:GetSecretValue');
    const { AccessKeysSyncRole, ...others } = readers;
    expect(AccessKeysSyncRole).toEqual([expect.stringContaining('secret:access-keys-')]);
    expect(others).toEqual({});
    const writers = resourcesByRole(deployed[profile], 'cloudfront-keyvaluestore:UpdateKeys');
    expect(Object.keys(writers)).toEqual(['AccessKeysSyncRole']);
  });

  it('are checked by the edge function, which has the store', () => {
    const [edge = {}] = propertiesOf(deployed[profile], 'AWS::CloudFront::Function').filter(
      ({ FunctionConfig }) => Object(FunctionConfig).KeyValueStoreAssociations,
    );
    // Names are short where the instance is private.
    expect(edge.FunctionCode).toContain('x-reelay-access');
    expect(edge.FunctionCode).toContain('Contact: mailto:security@media.example');
    expect(edge.FunctionConfig).toMatchObject({ KeyValueStoreAssociations: [expect.anything()] });
    expect(resourcesOfType(deployed[profile], 'Custom::AccessKeys')).toHaveLength(1);
  });
});
