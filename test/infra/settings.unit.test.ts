import { describe, expect, it, vi } from 'vitest';
import { SettingError } from '../../core/config/parsers.ts';
import { profileOf, profiles } from '../../infra/profiles.ts';
import { checkTarget, readContext } from '../../infra/settings.ts';
import { PLUGINS_LAYER } from './deployment-settings.ts';
import { flags } from './synth.ts';

const CERTIFICATE = 'arn:aws:acm:us-east-1:111111111111:certificate/0a1b2c3d-0000-1111-2222-333344445555';
const SECRET = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:reelay/proxies-AbCdEf';

describe('readContext', () => {
  it('returns the defaults, and ignores blank values and the context of CDK', () => {
    const defaults = readContext({});
    expect(defaults).toEqual({
      profile: 'team',
      stage: 'main',
      architecture: 'arm64',
      streamImage: 'docker',
      reelayEnvironment: 'Production',
      corsAllowedOrigins: [],
      securityContact: [],
      toolsChannel: 'nightly',
      canaryLinks: [],
      toolsUpdateHours: 12,
      youtubeFallbackClient: 'visionos',
      egressAllow: [],
      proxyRules: [],
      probedHosts: ['googlevideo.com'],
      segmentProbes: 8,
      impersonate: [],
      ytDlpExtractorArgs: [],
      playlistLimit: 200,
      pricingPlan: 'none',
      search: false,
      resolverMemory: 2048,
      resolverProvisioned: 0,
      idleMinutes: 15,
      logDays: 30,
      retainTable: false,
    });
    expect(readContext({ ...flags, 'aws:cdk:enable-path-metadata': true, stage: ' ' })).toEqual(defaults);
  });

  it('has the same architecture on every build machine, so that deployments from a laptop and CI do not replace all functions', () => {
    const builder = vi.spyOn(process, 'arch', 'get');
    const architectures = (['x64', 'arm64'] as const).map((name) => {
      builder.mockReturnValue(name);
      return readContext({}).architecture;
    });
    expect(architectures).toEqual(['arm64', 'arm64']);
    builder.mockRestore();
  });

  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ profile: 'Hobby' }, { profile: 'hobby' }],
    [{ corsAllowedOrigins: 'https://a.example, *' }, { corsAllowedOrigins: ['https://a.example', '*'] }],
    [{ corsAllowedOrigins: ['https://a.example'] }, { corsAllowedOrigins: ['https://a.example'] }],
    [{ securityContact: 'mailto:s@a.example' }, { securityContact: ['mailto:s@a.example'] }],
    [
      { domain: 'media.example.com', certificateArn: CERTIFICATE },
      { domain: 'media.example.com', certificateArn: CERTIFICATE, publicUrl: 'https://media.example.com' },
    ],
    [
      { alarmEmail: 'ops@example.com', monthlyBudget: '40' },
      { alarmEmail: 'ops@example.com', monthlyBudget: 40 },
    ],
    [{ egressAllow: 'media.lan:8000,[::1]:81' }, { egressAllow: ['media.lan:8000', '[::1]:81'] }],
    [
      { taskCpu: '4096', taskMemory: '9216' },
      { taskCpu: 4096, taskMemory: 9216 },
    ],
    [{ zones: 'use1-az4,use1-az5' }, { zones: ['use1-az4', 'use1-az5'] }],
  ])('parses %j', (context, expected) => expect(readContext(context)).toMatchObject(expected));

  it.each([
    { stage: 'blue-2', architecture: 'x86_64', publicUrl: 'https://media.example', search: true, logDays: 365 },
    { outgoingProxiesSecret: SECRET, cookiesSecret: SECRET, pluginsLayerArn: PLUGINS_LAYER },
    { toolsUpdateHours: 0, toolsVersion: '2026.11.20', ytDlpExtractorArgs: ['a:b=1,2', 'c:d=3'] },
    { taskCpu: 256, taskMemory: 512, minTasks: 2, maxTasks: 8, originSecretRotation: '2026-11' },
  ])('keeps %j', (context) => expect(readContext(context)).toMatchObject(context));

  it.each<[name: string, value: unknown, others?: Record<string, unknown>]>([
    ['profile', 'enterprise'],
    ['stage', 'Main'],
    ['stage', 'x'],
    ['stage', 'blue-edge'],
    ['stage', 'x-edge-eu-west-1'],
    ['stage', 'a-stage-of-more-than-twenty'],
    ['architecture', 'mips'],
    ['streamImage', 'podman'],
    ['streamImage', 'images.example/reelay-stream:latest'],
    ['reelayEnvironment', 'staging'],
    ['corsAllowedOrigins', 'https://a.example/path'],
    ['domain', 'https://media.example.com', { certificateArn: CERTIFICATE }],
    ['hostedZone', 'media.example.com'],
    ['certificateArn', CERTIFICATE.replace('us-east-1', 'eu-west-1'), { domain: 'a.example.com' }],
    ['outgoingProxiesSecret', 'http://user:pass@proxy.example'],
    ['cookiesSecret', 'cookies.txt'],
    ['pluginsLayerArn', PLUGINS_LAYER.replace(/:3$/, '')],
    ['accessKeysSecret', 'a-key-0123456789'],
    ['alarmEmail', 'ops'],
    ['monthlyBudget', '9.99'],
    ['toolsChannel', 'beta'],
    ['toolsVersion', 'latest'],
    ['toolsVersion', '2026.8.19'],
    ['toolsUpdateHours', '1d'],
    ['egressAllow', 'media.lan'],
    ['playlistLimit', 0],
    ['search', 'perhaps'],
    ['maxStreams', '1e9'],
    ['taskCpu', 300, { taskMemory: 512 }],
    ['taskMemory', 2500, { taskCpu: 1024 }],
    ['entriesAtOnce', 0],
    ['resolverMemory', 128],
    ['dailyCap', 0],
    ['hourlyCap', '1.005'],
    ['resolveRate', 0],
    ['pricingPlan', 'gold'],
    ['logDays', 31],
    ['zones', 'us-east-1a,us-east-1b'],
    ['zones', 'use1-az1,usw2-az2'],
    ['canaryLinks', 'https://a.example/,ftp://b.example/'],
    ['originSecretRotation', 'in november'],
    ['stage', { name: 'main' }],
    ['profil', 'hobby'],
    ['min-tasks', '3'],
    ['min_tasks', '3'],
    ['outgoingProxies', 'http://user:pass@proxy.example'],
    ['cookiesFile', 'cookies.txt'],
    ['port', 80],
  ])('rejects %s=%j with %j in one line that names it', (name, value, others) => {
    const act = () => readContext({ ...others, [name]: value });
    expect(act).toThrow(SettingError);
    expect(act).toThrow(new RegExp(`^${name} [^\n]+$`));
  });

  it.each<[Record<string, unknown>, string]>([
    [{ domain: 'a.example.com' }, 'domain needs certificateArn, a certificate in us-east-1'],
    [{ certificateArn: CERTIFICATE }, 'certificateArn needs domain, the name it is for'],
    [{ hostedZone: 'Z0123456789ABC' }, 'hostedZone needs domain, the name of its records'],
    [{ taskCpu: 512 }, 'taskCpu needs taskMemory'],
    [{ taskMemory: 1024 }, 'taskMemory needs taskCpu'],
    [{ taskCpu: 256, taskMemory: 1536 }, 'taskMemory must be one of 512, 1024, 2048 with taskCpu 256'],
    [{ taskCpu: 512, taskMemory: 8192 }, 'taskMemory must be one of 1024, 2048, 3072, 4096 with taskCpu 512'],
    [{ profile: 'hobby', minTasks: 1 }, 'minTasks is for team and public: hobby runs one task at most'],
    [{ profile: 'hobby', maxTasks: 2 }, 'maxTasks is for team and public: hobby runs one task at most'],
    [
      { profile: 'hobby', resolverProvisioned: 1 },
      'resolverProvisioned is for team and public: hobby costs nothing while it is idle',
    ],
  ])('rejects a combination: %j', (context, message) =>
    expect(() => readContext(context)).toThrow(new SettingError(message)),
  );

  // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html#fargate-tasks-size
  it.each([
    [256, 512, 2048, 1024],
    [512, 1024, 4096, 1024],
    [1024, 2048, 8192, 1024],
    [2048, 4096, 16_384, 1024],
    [4096, 8192, 30_720, 1024],
    [8192, 16_384, 61_440, 4096],
    [16_384, 32_768, 122_880, 8192],
  ])('with taskCpu %i accepts a taskMemory of %i to %i MiB', (taskCpu, min, max, step) => {
    const accepts = (taskMemory: number) => {
      try {
        return readContext({ taskCpu, taskMemory }).taskMemory === taskMemory;
      } catch {
        return false;
      }
    };
    expect([min, max, max - step].map(accepts)).toEqual([true, true, true]);
    expect([min - step, min - 1, min + 1, max + 1, max + step].map(accepts)).toEqual(Array(5).fill(false));
  });

  it('does not repeat the password of a proxy', () => {
    for (const name of ['outgoingProxies', 'outgoingProxiesSecret']) {
      expect(() => readContext({ [name]: 'http://user:hidden@proxy.example' })).toThrow(/^(?!.*hidden)/s);
    }
  });
});

describe('profileOf', () => {
  it('returns the profile with the sizes that settings override', () => {
    expect(profileOf(readContext({}))).toMatchObject(profiles.team);
    const sizes = { taskCpu: 2048, taskMemory: 4096, minTasks: 3, maxTasks: 9, entriesAtOnce: 50, monthlyBudget: 500 };
    const caps = { dailyCap: 20.5, hourlyCap: 5, monthlyCap: 150 };
    expect(profileOf(readContext({ profile: 'public', ...sizes, ...caps }))).toMatchObject({
      ...profiles.public,
      ...sizes,
      ...caps,
    });
  });

  it('caps an hour at half of the day, and never above it', () => {
    expect(profileOf(readContext({ dailyCap: 3 }))).toMatchObject({ dailyCap: 3, hourlyCap: 1.5, monthlyCap: 30 });
    expect(profileOf(readContext({ dailyCap: 3, hourlyCap: 9 })).hourlyCap).toBe(3);
  });

  it('limits the resolver by default, above what playlists and initialized environments need', () => {
    expect(profileOf(readContext({ entriesAtOnce: 50 })).resolverLimit).toBe(100);
    expect(profileOf(readContext({ resolverProvisioned: 30 })).resolverLimit).toBe(60);
    expect(profileOf(readContext({ resolverConcurrency: 12 }))).toMatchObject({
      resolverLimit: 12,
      resolverConcurrency: 12,
    });
    for (const { resolverLimit, entriesAtOnce } of Object.values(profiles))
      expect(resolverLimit).toBeGreaterThan(entriesAtOnce);
  });

  it('leaves the routes that do not resolve four times the rate of one that does', () => {
    expect(profileOf(readContext({ resolveRate: 40 }))).toMatchObject({
      resolveRate: 40,
      resolveBurst: 200,
      apiRate: 200,
      apiBurst: 400,
    });
  });

  it('adds the firewall that a flat-rate plan requires', () => {
    expect(profileOf(readContext({ pricingPlan: 'pro', profile: 'hobby' })).firewall).toEqual(profiles.public.firewall);
    expect(profileOf(readContext({ profile: 'hobby' })).firewall).toBeUndefined();
  });

  it.each([
    [
      'hobby',
      'free',
      /^pricingPlan=free .* what hobby uses \(more than five cache behaviours, a key-value store, .*\): use pricingPlan=pro, or none$/,
    ],
    [
      'team',
      'pro',
      /^pricingPlan=pro .* what team uses \(a custom cache policy, a VPC origin\): use pricingPlan=business, or none$/,
    ],
  ])('refuses %s with the plan %s, which lacks what it uses', (profile, pricingPlan, message) =>
    expect(() => profileOf(readContext({ profile, pricingPlan }))).toThrow(message),
  );

  it('rejects more provisioned environments than may run', () => {
    const read = (profile: string, resolverConcurrency?: number) =>
      readContext({ profile, resolverProvisioned: 50, resolverConcurrency });
    expect(read('public').resolverProvisioned).toBe(50);
    expect(read('team', 50).resolverProvisioned).toBe(50);
    expect(() => read('public', 49)).toThrow(/^resolverProvisioned must be at most resolverConcurrency \(49\)$/);
  });

  it('refuses a limit of resolves per client, which no function could keep', () => {
    expect(() => readContext({ maxResolvesPerClient: 4 })).toThrow(
      /^maxResolvesPerClient has no effect in Lambda, .*: set resolverConcurrency or resolveRate/,
    );
  });

  it('rejects a resolverConcurrency that leaves playlists no room', () => {
    expect(profileOf(readContext({ profile: 'hobby', resolverConcurrency: 5 })).resolverConcurrency).toBe(5);
    expect(() => profileOf(readContext({ profile: 'hobby', resolverConcurrency: 4 }))).toThrow(
      /^resolverConcurrency must be above entriesAtOnce \(4\)$/,
    );
  });

  it('rejects minTasks above maxTasks', () => {
    expect(profileOf(readContext({ minTasks: 4 })).minTasks).toBe(4);
    expect(() => profileOf(readContext({ minTasks: 5 }))).toThrow(/^minTasks must be at most maxTasks \(4\), not 5$/);
  });
});

describe('checkTarget', () => {
  const settings = (context: Record<string, unknown>) => readContext(context);
  const HERE = { account: '111111111111', region: 'eu-central-1' };

  it.each<[string, Record<string, unknown>, { account?: string; region?: string }]>([
    ['a secret of the region', { cookiesSecret: SECRET }, HERE],
    ['a certificate of the account', { domain: 'a.example.com', certificateArn: CERTIFICATE }, HERE],
    ['nothing with a region or account', {}, HERE],
    ['any region while the stack has none', { cookiesSecret: SECRET }, {}],
    ['any account while the stack has none', { domain: 'a.example.com', certificateArn: CERTIFICATE }, {}],
  ])('accepts %s', (_, context, env) => checkTarget(settings(context), env));

  it.each<[Record<string, unknown>, object, string]>([
    [
      { outgoingProxiesSecret: SECRET },
      { region: 'us-east-1' },
      'outgoingProxiesSecret must be a secret in us-east-1, where the stack is, not in eu-central-1',
    ],
    [
      { cookiesSecret: SECRET },
      { region: 'us-east-1' },
      'cookiesSecret must be a secret in us-east-1, where the stack is, not in eu-central-1',
    ],
    [
      { pluginsLayerArn: PLUGINS_LAYER },
      { region: 'us-east-1' },
      'pluginsLayerArn must be a layer in us-east-1, where the stack is, not in eu-central-1',
    ],
    [
      { domain: 'a.example.com', certificateArn: CERTIFICATE },
      { account: '222222222222' },
      'certificateArn must be a certificate of the account 222222222222, not of 111111111111',
    ],
  ])('rejects %j for %j', (context, env, message) =>
    expect(() => checkTarget(settings(context), env)).toThrow(new SettingError(message)),
  );
});
