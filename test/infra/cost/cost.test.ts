import { describe, expect, it } from 'vitest';
import type { ProfileName } from '../../../infra/config/settings.ts';
import { billOf, totalOf } from '../../../infra/cost/bill.ts';
import { standingOf, type Template, UnpricedResource } from '../../../infra/cost/fixed-costs.ts';
import { METERS } from '../../../infra/cost/prices.ts';
import { report } from '../../../infra/cost/report.ts';
import { IDLE, TRAFFIC } from '../../../infra/cost/traffic.ts';
import { usageOf } from '../../../infra/cost/usage.ts';
import { synthesise } from '../synth.ts';

const of = (...types: string[]): Template => ({
  Resources: Object.fromEntries(types.map((Type, index) => [`R${index}`, { Type, Properties: {} }])),
});

describe('billOf', () => {
  it('adds up each meter, and asks nothing for what is free', () => {
    const bill = billOf([
      ['edgeTraffic', 700],
      ['edgeTraffic', 800],
      ['alarms', 4],
    ]);
    const traffic = { what: METERS.edgeTraffic.what, unit: 'GB', quantity: 1500, free: 1000, usd: 500 * 0.085 };
    expect(bill).toEqual([traffic, { what: 'alarms', unit: 'alarm', quantity: 4, free: 4, usd: 0 }]);
    expect(totalOf(bill)).toBeCloseTo(42.5);
  });

  it('leaves out what was not used', () => expect(billOf([['secrets', 0]])).toEqual([]));
});

describe('standingOf', () => {
  it.each(['AWS::EC2::NatGateway', 'AWS::EC2::EIP', 'AWS::RDS::DBInstance', 'Made::Up::Thing'])(
    'refuses to forget %s',
    (type) => {
      expect(() => standingOf(of('AWS::IAM::Role', type))).toThrow(UnpricedResource);
    },
  );

  it('knows a free endpoint of a network from one that costs', () => {
    const endpoint = (VpcEndpointType: string): Template => ({
      Resources: { E: { Type: 'AWS::EC2::VPCEndpoint', Properties: { VpcEndpointType } } },
    });
    expect(standingOf(endpoint('Gateway'))).toEqual([]);
    expect(() => standingOf(endpoint('Interface'))).toThrow(UnpricedResource);
  });

  it('knows that each policy of scaling makes two alarms', () =>
    expect(standingOf(of('AWS::ApplicationAutoScaling::ScalingPolicy'))).toEqual([['alarms', 2]]));

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
    expect(standingOf(template({}))).toContainEqual(['taskVcpuArm', 0.5 * 730]);
    expect(standingOf(template({ Scaling: target }))).toContainEqual(['taskVcpuArm', 2 * 0.5 * 730]);
  });
});

describe('usageOf', () => {
  it('pays a write by the kilobyte of what is written', () => {
    const usage = usageOf({}, { ...IDLE, resolves: 1e6 });
    const writes = usage.flatMap(([meter, quantity]) => (meter === 'tableWrites' ? [quantity] : []));
    // The resource of some 10 KB, and three small items.
    expect(writes).toEqual([13]);
    expect(usageOf({}, { ...IDLE, streams: 1e6 })).toContainEqual(['tableWrites', 10]);
  });
});

describe('the bill of a profile', () => {
  const bills = (profile: ProfileName, architecture = 'arm64') => {
    const { templates } = synthesise({ profile, architecture });
    const Resources = Object.assign({}, ...Object.values(templates).map((template) => template.Resources));
    const template: Template = { Resources };
    const bill = (traffic: typeof IDLE) => billOf([...standingOf(template), ...usageOf(template, traffic)]);
    return { idle: bill(IDLE), busy: bill(TRAFFIC[profile]) };
  };

  it('of a hobby that nobody uses is cents', () => {
    const { idle, busy } = bills('hobby');
    expect(totalOf(idle)).toBeLessThan(0.1);
    expect(totalOf(busy)).toBeLessThan(5);
    expect(busy.map(({ what }) => what)).toContain(METERS.edgeStoreWrites.what);
  });

  it.each([
    ['team', 30, 45],
    ['public', 80, 120],
  ] as const)('of %s is what always runs, and nothing that stands idle besides', (profile, least, most) => {
    const { idle, busy } = bills(profile);
    expect(totalOf(idle)).toBeGreaterThan(least);
    expect(totalOf(idle)).toBeLessThan(most);
    expect(totalOf(busy)).toBeGreaterThan(totalOf(idle));
  });

  it('reads as a table with its sum', () => {
    const text = report('team', IDLE, billOf([['loadBalancer', 730]]));
    expect(text).toBe(
      'team, idle (nobody watches)\n  load balancer  730 h           $16.43\n                        a month  $16.43',
    );
  });
});
