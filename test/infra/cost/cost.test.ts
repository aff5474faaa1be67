import { describe, expect, it } from 'vitest';
import { profiles } from '../../../infra/config/profiles.ts';
import type { ProfileName } from '../../../infra/config/settings.ts';
import { calculateBill, totalUsd } from '../../../infra/cost/bill.ts';
import { fixedUsage, type Template, UnpricedResource } from '../../../infra/cost/fixed-costs.ts';
import { METERS } from '../../../infra/cost/prices.ts';
import { formatReport } from '../../../infra/cost/report.ts';
import { IDLE, TRAFFIC } from '../../../infra/cost/traffic.ts';
import { trafficUsage } from '../../../infra/cost/usage.ts';
import { regionless } from '../deployments.ts';

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
    const traffic = { label: METERS.edgeTraffic.label, unit: 'GB', quantity: 1500, free: 1000, usd: 500 * 0.085 };
    expect(bill).toEqual([traffic, { label: 'alarms', unit: 'alarm', quantity: 4, free: 4, usd: 0 }]);
    expect(totalUsd(bill)).toBeCloseTo(42.5);
  });

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

describe('monthly bill', () => {
  const bills = (profile: ProfileName) => {
    const { templates } = regionless[profile];
    const Resources = Object.assign({}, ...Object.values(templates).map((template) => template.Resources));
    const template: Template = { Resources };
    const bill = (traffic: typeof IDLE) => calculateBill([...fixedUsage(template), ...trafficUsage(template, traffic)]);
    return { idle: bill(IDLE), busy: bill(TRAFFIC[profile]) };
  };

  it('of hobby is below 10 cents without traffic', () => {
    const { idle, busy } = bills('hobby');
    expect(totalUsd(idle)).toBeLessThan(0.1);
    expect(totalUsd(busy)).toBeLessThan(5);
    expect(busy.map(({ label }) => label)).toContain(METERS.edgeStoreWrites.label);
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
    const { 'reelay-main': template } = regionless[name].templates;
    const bill = calculateBill([
      ...fixedUsage(template as Template),
      ...trafficUsage(template as Template, TRAFFIC[name]),
    ]);
    const { monthlyBudget } = profiles[name];
    expect(monthlyBudget).toBeGreaterThan(totalUsd(bill));
    expect(monthlyBudget).toBeLessThan(Math.max(3 * totalUsd(bill), 15));
  },
);
