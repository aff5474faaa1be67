import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { profiles } from '../../../infra/config/profiles.ts';
import type { ProfileName } from '../../../infra/config/settings.ts';
import { billWithPlan, calculateBill, totalUsd } from '../../../infra/cost/bill.ts';
import { fixedUsage, type Template, UnpricedResource } from '../../../infra/cost/fixed-costs.ts';
import { METERS } from '../../../infra/cost/prices.ts';
import { formatPlan, formatReport, formatVisits } from '../../../infra/cost/report.ts';
import { IDLE, TRAFFIC, type Traffic } from '../../../infra/cost/traffic.ts';
import { awakeHours, countTraces, trafficUsage } from '../../../infra/cost/usage.ts';
import { type DeploymentName, regionless } from '../deployments.ts';

const of = (...types: string[]): Template => ({
  Resources: Object.fromEntries(types.map((Type, index) => [`R${index}`, { Type, Properties: {} }])),
});

describe('calculateBill', () => {
  it('sums each meter and subtracts its free quantity', () => {
    const bill = calculateBill([
      ['edgeTraffic', 700],
      ['edgeTraffic', 800],
      ['alarms', 4],
    ]);
    const edgeTraffic = { meter: 'edgeTraffic', label: METERS.edgeTraffic.label, unit: 'GB' };
    expect(bill).toEqual([
      { ...edgeTraffic, quantity: 1500, free: 1000, usd: 500 * 0.085 },
      { meter: 'alarms', label: 'alarms', unit: 'alarm', quantity: 4, free: 4, usd: 0 },
    ]);
    expect(totalUsd(bill)).toBeCloseTo(42.5);
  });

  it.each([
    [1_000, 0],
    [10_000, 9_000 * 0.085],
    [40_000, 9_000 * 0.085 + 30_000 * 0.08],
    [60_000, 9_000 * 0.085 + 40_000 * 0.08 + 10_000 * 0.06],
    [6_000_000, 765 + 3_200 + 6_000 + 14_000 + 15_720 + 100_000 + 976_000 * 0.02],
  ])('charges %i GB of traffic by volume', (gigabytes, usd) =>
    expect(totalUsd(calculateBill([['edgeTraffic', gigabytes]]))).toBeCloseTo(usd),
  );

  it('omits meters without usage', () => expect(calculateBill([['secrets', 0]])).toEqual([]));
});

describe('fixedUsage', () => {
  it.each(['AWS::EC2::NatGateway', 'AWS::EC2::EIP', 'AWS::RDS::DBInstance', 'Made::Up::Thing'])(
    'throws for the unpriced resource %s',
    (type) => {
      expect(() => fixedUsage(of('AWS::IAM::Role', type))).toThrow(UnpricedResource);
    },
  );

  it('accepts gateway endpoints, which are free, and throws for interface endpoints', () => {
    const endpoint = (VpcEndpointType: string): Template => ({
      Resources: { E: { Type: 'AWS::EC2::VPCEndpoint', Properties: { VpcEndpointType } } },
    });
    expect(fixedUsage(endpoint('Gateway'))).toEqual([]);
    expect(() => fixedUsage(endpoint('Interface'))).toThrow(UnpricedResource);
  });

  it('counts two alarms for each scaling policy', () =>
    expect(fixedUsage(of('AWS::ApplicationAutoScaling::ScalingPolicy'))).toEqual([['alarms', 2]]));

  it('counts provisioned environments by the memory of the resolver', () => {
    const template = (provisioned: string): Template => ({
      Resources: {
        Resolver: {
          Type: 'AWS::Lambda::Function',
          Properties: { Description: 'Reelay get-resource', MemorySize: 2048, Architectures: ['arm64'] },
        },
        Tools: { Type: 'Custom::ToolsLayer', Properties: { provisioned } },
      },
    });
    expect(fixedUsage(template('0'))).toEqual([]);
    const usage = fixedUsage(template('3'));
    expect(usage).toEqual([['provisionedTimeArm', 3 * 2 * 730 * 3_600]]);
    // As the description of the setting states: per environment.
    expect(totalUsd(calculateBill(usage)) / 3).toBeCloseTo(17.52, 2);
  });

  it('counts the minimum number of tasks', () => {
    const template = (scaling: object): Template => ({
      Resources: {
        Task: {
          Type: 'AWS::ECS::TaskDefinition',
          Properties: { Cpu: '512', Memory: '1024', RuntimePlatform: { CpuArchitecture: 'ARM64' } },
        },
        Service: { Type: 'AWS::ECS::Service', Properties: { DesiredCount: 1 } },
        ...scaling,
      },
    });
    const target = { Type: 'AWS::ApplicationAutoScaling::ScalableTarget', Properties: { MinCapacity: 2 } };
    expect(fixedUsage(template({}))).toContainEqual(['taskVcpuArm', 0.5 * 730]);
    expect(fixedUsage(template({ Scaling: target }))).toContainEqual(['taskVcpuArm', 2 * 0.5 * 730]);
  });
});

describe('trafficUsage', () => {
  it('counts a table write per kilobyte', () => {
    const usage = trafficUsage({}, { ...IDLE, resolves: 1e6 });
    const writes = usage.flatMap(([meter, quantity]) => (meter === 'tableWrites' ? [quantity] : []));
    // A resource of about 10 KB and three small items.
    expect(writes).toEqual([13]);
    expect(trafficUsage({}, { ...IDLE, streams: 1e6 })).toContainEqual(['tableWrites', 10]);
  });
});

describe('awakeHours', () => {
  it('adds start and idle time of each visit, up to the whole day', () => {
    expect(awakeHours(0, 15)).toBe(0);
    // Twenty separate visits of 16 minutes: 5 hours and 20 minutes a day.
    expect(awakeHours(20, 15)).toBeCloseTo((730 * (5 + 1 / 3)) / 24);
    expect(awakeHours(1_000, 15)).toBe(730);
  });
});

describe('countTraces', () => {
  it('counts nearly all of rare requests, and about one a second and 5 % of frequent ones', () => {
    expect(countTraces(1_000)).toBeCloseTo(1_000, 0);
    const seconds = 730 * 3_600;
    expect(countTraces(20 * seconds)).toBeCloseTo(seconds + 0.05 * 19 * seconds, 0);
  });
});

describe('billWithPlan', () => {
  const bill = (gigabytes: number, requests: number) =>
    calculateBill([
      ['edgeTraffic', gigabytes],
      ['edgeRequests', requests],
      ['firewall', 1],
      ['loadBalancer', 1_000],
    ]);

  it.each([
    [100, 1, 'Free', 0],
    [101, 1, 'Pro', 15],
    [50_000, 10, 'Pro', 15],
    [50_000, 11, 'Business', 200],
    [50_000, 500, 'Premium', 1_000],
  ])(
    'replaces delivery and firewall of %i GB and %i million requests by the plan %s',
    (gigabytes, requests, name, usd) => {
      expect(billWithPlan(bill(gigabytes, requests))).toMatchObject({ plan: { name }, usd: usd + 22.5 });
    },
  );

  it('is undefined beyond the allowance of every plan', () => expect(billWithPlan(bill(50_001, 1))).toBeUndefined());

  it('is reported where it saves', () => {
    expect(formatPlan(bill(40_000, 7))).toBe("  with CloudFront's flat-rate plan Pro ($15.00): $37.50");
    expect(formatPlan(bill(60_000, 7))).toBe('');
    expect(formatPlan(calculateBill([['edgeTraffic', 500]]))).toBe('');
  });
});

/** The bill of a profile for some traffic. */
function billOf(profile: DeploymentName, traffic: Traffic) {
  const { templates } = regionless[profile];
  const Resources = Object.assign({}, ...Object.values(templates).map((template) => template.Resources));
  const template: Template = { Resources };
  return calculateBill([...fixedUsage(template), ...trafficUsage(template, traffic)]);
}

describe('monthly bill', () => {
  const bills = (profile: ProfileName) => ({ idle: billOf(profile, IDLE), busy: billOf(profile, TRAFFIC[profile]) });

  it('of hobby grows with the number of separate visits, to about 7 USD for twenty a day', () => {
    const usd = (visitsPerDay: number) => totalUsd(billOf('hobby', { ...TRAFFIC.hobby, visitsPerDay }));
    expect(Math.round(usd(20))).toBe(7);
    expect(usd(1)).toBeLessThan(usd(5));
    expect(usd(20)).toBeLessThan(profiles.hobby.monthlyBudget);
    expect(
      formatVisits([
        [1, 2],
        [20, 5.96],
      ]),
    ).toBe('  by separate visits a day: 1: $2.00, 20: $5.96');
  });

  it('of public includes the traces that X-Ray samples', () => {
    const traces = bills('public').busy.find(({ meter }) => meter === 'traces');
    expect(traces?.usd).toBeGreaterThan(7);
    expect(traces?.usd).toBeLessThan(11);
  });

  it('of hobby is below 10 cents without traffic', () => {
    const { idle, busy } = bills('hobby');
    expect(totalUsd(idle)).toBeLessThan(0.1);
    expect(totalUsd(busy)).toBeLessThan(5);
    expect(busy.map(({ label }) => label)).toContain(METERS.edgeStoreWrites.label);
  });

  it('of hobby on Lambda states the quantities of the stream function, whose prices are not published', () => {
    const bill = billOf('lambda', TRAFFIC.hobby);
    const unpublished = bill.filter(({ usd }) => usd === undefined);
    expect(unpublished.map(({ meter, quantity }) => [meter, Number(quantity.toPrecision(2))])).toEqual([
      ['streamFunctionVcpu', 0.033],
      ['streamFunctionMemory', 2],
      ['streamFunctionRequests', 0.0018],
    ]);
    expect(
      bill.map(({ meter }) => meter).filter((meter) => /^(task|publicAddress|image|edgeStore)/.test(meter)),
    ).toEqual([]);
    expect(totalUsd(billOf('lambda', IDLE))).toBeLessThan(totalUsd(billOf('hobby', IDLE)));
    const report = formatReport('hobby', TRAFFIC.hobby, bill);
    expect(report).toMatch(/stream function, requests +0\.0018 million +unpublished\n/);
    expect(report).toMatch(/a month, besides +\$\d+\.\d\d$/);
  });

  it.each([
    ['team', 30, 45],
    ['public', 80, 120],
  ] as const)('of %s is between %i and %i USD without traffic', (profile, least, most) => {
    const { idle, busy } = bills(profile);
    expect(totalUsd(idle)).toBeGreaterThan(least);
    expect(totalUsd(idle)).toBeLessThan(most);
    expect(totalUsd(busy)).toBeGreaterThan(totalUsd(idle));
  });

  it('is reported as a table with its sum', () => {
    const text = formatReport('team', IDLE, calculateBill([['loadBalancer', 730]]));
    expect(text).toBe(
      'team, idle (no traffic)\n  load balancer  730 h           $16.43\n                        a month  $16.43',
    );
  });
});

it.each(['hobby', 'team', 'public'] as const)(
  'the budget of %s warns above its stated bill, and below three times that',
  (name) => {
    const usd = totalUsd(billOf(name, TRAFFIC[name]));
    const { monthlyBudget } = profiles[name];
    expect(monthlyBudget).toBeGreaterThan(usd);
    expect(monthlyBudget).toBeLessThan(Math.max(3 * usd, 15));
  },
);

describe.each([
  ['README.md', 'README'],
  ['docs/operating-aws.md', 'the manual'],
])('the table of %s', (file) => {
  const text = readFileSync(join(import.meta.dirname, '../../..', file), 'utf8');
  /** Dollars in a row of a profile. */
  const stated = (name: ProfileName) => {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? '';
    return [...row.matchAll(/\$([\d,]+)/g)].map(([, digits = '']) => Number(digits.replaceAll(',', '')));
  };
  const rounded = (usd: number) => (usd < 10 ? Math.round(usd) : Number(usd.toPrecision(2)));

  it.each(['hobby', 'team', 'public'] as const)('states the bill of %s', (name) => {
    const [idle, busy] = stated(name);
    expect(idle).toBe(rounded(totalUsd(billOf(name, IDLE))));
    expect(busy).toBe(rounded(totalUsd(billOf(name, TRAFFIC[name]))));
  });
});
