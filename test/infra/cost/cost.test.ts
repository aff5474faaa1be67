import { describe, expect, it } from 'vitest';
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

describe('billOf', () => {
  it('adds up each meter, and asks nothing for what is free', () => {
    const bill = calculateBill([
      ['edgeTraffic', 700],
      ['edgeTraffic', 800],
      ['alarms', 4],
    ]);
    const traffic = { label: METERS.edgeTraffic.label, unit: 'GB', quantity: 1500, free: 1000, usd: 500 * 0.085 };
    expect(bill).toEqual([traffic, { label: 'alarms', unit: 'alarm', quantity: 4, free: 4, usd: 0 }]);
    expect(totalUsd(bill)).toBeCloseTo(42.5);
  });

  it('leaves out what was not used', () => expect(calculateBill([['secrets', 0]])).toEqual([]));
});

describe('standingOf', () => {
  it.each(['AWS::EC2::NatGateway', 'AWS::EC2::EIP', 'AWS::RDS::DBInstance', 'Made::Up::Thing'])(
    'refuses to forget %s',
    (type) => {
      expect(() => fixedUsage(of('AWS::IAM::Role', type))).toThrow(UnpricedResource);
    },
  );

  it('knows a free endpoint of a network from one that costs', () => {
    const endpoint = (VpcEndpointType: string): Template => ({
      Resources: { E: { Type: 'AWS::EC2::VPCEndpoint', Properties: { VpcEndpointType } } },
    });
    expect(fixedUsage(endpoint('Gateway'))).toEqual([]);
    expect(() => fixedUsage(endpoint('Interface'))).toThrow(UnpricedResource);
  });

  it('knows that each policy of scaling makes two alarms', () =>
    expect(fixedUsage(of('AWS::ApplicationAutoScaling::ScalingPolicy'))).toEqual([['alarms', 2]]));

  it('counts the tasks that always run, by the least that scaling leaves', () => {
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

describe('usageOf', () => {
  it('pays a write by the kilobyte of what is written', () => {
    const usage = trafficUsage({}, { ...IDLE, resolves: 1e6 });
    const writes = usage.flatMap(([meter, quantity]) => (meter === 'tableWrites' ? [quantity] : []));
    // The resource of some 10 KB, and three small items.
    expect(writes).toEqual([13]);
    expect(trafficUsage({}, { ...IDLE, streams: 1e6 })).toContainEqual(['tableWrites', 10]);
  });
});

describe('the bill of a profile', () => {
  const bills = (profile: ProfileName) => {
    const { templates } = regionless[profile];
    const Resources = Object.assign({}, ...Object.values(templates).map((template) => template.Resources));
    const template: Template = { Resources };
    const bill = (traffic: typeof IDLE) => calculateBill([...fixedUsage(template), ...trafficUsage(template, traffic)]);
    return { idle: bill(IDLE), busy: bill(TRAFFIC[profile]) };
  };

  it('of a hobby that nobody uses is cents', () => {
    const { idle, busy } = bills('hobby');
    expect(totalUsd(idle)).toBeLessThan(0.1);
    expect(totalUsd(busy)).toBeLessThan(5);
    expect(busy.map(({ label }) => label)).toContain(METERS.edgeStoreWrites.label);
  });

  it.each([
    ['team', 30, 45],
    ['public', 80, 120],
  ] as const)('of %s is what always runs, and nothing that stands idle besides', (profile, least, most) => {
    const { idle, busy } = bills(profile);
    expect(totalUsd(idle)).toBeGreaterThan(least);
    expect(totalUsd(idle)).toBeLessThan(most);
    expect(totalUsd(busy)).toBeGreaterThan(totalUsd(idle));
  });

  it('reads as a table with its sum', () => {
    const text = formatReport('team', IDLE, calculateBill([['loadBalancer', 730]]));
    expect(text).toBe(
      'team, idle (no traffic)\n  load balancer  730 h           $16.43\n                        a month  $16.43',
    );
  });
});
