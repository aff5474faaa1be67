import { describe, expect, it, vi } from 'vitest';
import { createResolveMetrics, createToolMetrics } from '../../lambdas/metrics.ts';
import { createMetrics } from '../../stream-service/task/metrics.ts';
import { edgeSource } from '../support/edge.ts';
import { PROFILE_NAMES, template } from './deployments.ts';
import { distribution } from './distribution.ts';
import type { Template } from './permissions.ts';
import { onlyResource, propertiesOf } from './template.ts';

const STAGE = 'main';

interface Emf {
  readonly Stage: string;
  readonly _aws: {
    CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[];
  };
}

/** `Namespace Name Dimension,Dimension` of every metric that the functions and the task write. */
function writtenMetrics(): Set<string> {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
  const resolves = createResolveMetrics(STAGE);
  resolves.resolved('resolved');
  resolves.ytDlpMode('worker');
  const tools = createToolMetrics(STAGE);
  for (const say of [tools.updateFailed, tools.missing, () => tools.maintained(1), () => tools.age(1)]) say();
  spy.mockRestore();
  const task = createMetrics({ stage: STAGE, toolVersion: () => '2026.01.01', write: (line) => void lines.push(line) });
  task.close();
  const said = lines.map((line): Emf => JSON.parse(line));
  expect(said.every(({ Stage }) => Stage === STAGE)).toBe(true);
  return new Set(
    said.flatMap(({ _aws }) =>
      _aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
        Metrics.flatMap(({ Name }) => Dimensions.map((names) => `${Namespace} ${Name} ${[...names].sort()}`)),
      ),
    ),
  );
}

type Dimensions = { Name: string; Value: unknown }[];

/** The same of every metric that alarms, scaling policies and the dashboard read; dimensions sorted, as CloudWatch ignores their order. */
function readMetrics(of: Template): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      const [namespace, name, ...more] = value as unknown[];
      if (namespace === 'Reelay')
        found.push(`Reelay ${name} ${more.filter((each, at) => at % 2 === 0 && typeof each === 'string')}`);
      value.forEach(visit);
    } else if (typeof value === 'object' && value !== null) {
      const { Namespace, MetricName, Dimensions = [] } = value as Record<string, never>;
      if (Namespace === 'Reelay')
        found.push(`Reelay ${MetricName} ${(Dimensions as Dimensions).map(({ Name }) => Name)}`);
      Object.values(value).forEach(visit);
    }
  };
  for (const type of ['AWS::CloudWatch::Alarm', 'AWS::ApplicationAutoScaling::ScalingPolicy'])
    for (const properties of propertiesOf(of, type)) visit(properties);
  const body = onlyResource(of, 'AWS::CloudWatch::Dashboard').DashboardBody as unknown as {
    'Fn::Join': [string, unknown[]];
  };
  const text = body['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : 'known-at-deployment')).join('');
  visit(JSON.parse(text));
  for (const [, names = '', metric] of text.matchAll(/SEARCH\('\{([\w,]+)\} MetricName=\\"(\w+)\\"/g)) {
    const [namespace, ...dimensions] = names.split(',');
    found.push(`${namespace} ${metric} ${dimensions.sort()}`);
  }
  return [...new Set(found)];
}

describe.each(PROFILE_NAMES)('%s', (name) => {
  const of = template(name);

  it('reads only metrics that are written, by their dimensions', () => {
    const read = readMetrics(of);
    expect(read.length).toBeGreaterThan(8);
    const known = writtenMetrics();
    expect(read.filter((metric) => !known.has(metric))).toEqual([]);
  });

  it('has the origins that the viewer request function selects', () => {
    const code = edgeSource('on-demand');
    const chosen = [...code.matchAll(/(?:"?origin"?: ?|selectRequestOriginById\()['"](\w+)['"]/g)].map(([, id]) => id);
    const origins = distribution(of).Origins.map(({ Id }) => Id);
    const unused = name === 'hobby' ? 'stream' : 'wake';
    const wanted = new Set(chosen.filter((id) => id !== unused));
    expect([...wanted].sort()).toEqual(origins.sort());
  });
});

it('writes no metric that nothing reads: each is billed', () => {
  const read = new Set(PROFILE_NAMES.flatMap((name) => readMetrics(template(name))));
  expect([...writtenMetrics()].filter((metric) => !read.has(metric))).toEqual([]);
});
