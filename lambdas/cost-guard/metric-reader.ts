import type { Reading, WatchedMetric } from '../../core/spending/index.ts';
import { type AwsCall, query, textOf } from '../aws-call.ts';

/** Reads a metric by minute. @param since epoch seconds; less than a day ago @param now epoch seconds */
export type MetricReader = (metric: WatchedMetric, since: number, now: number) => Promise<Reading>;

const POINT = /<member>(.*?)<\/member>/gs;

/**
 * Reads by GetMetricStatistics, a million calls of which are free, as none of GetMetricData is. A day of minutes is what one
 * call returns at most.
 */
export function createMetricReader(call: AwsCall, ownRegion: string): MetricReader {
  return async (metric, since, now) => {
    const { namespace, name, dimensions, statistic, region = ownRegion } = metric;
    const text = await query(
      call,
      { name: 'GetMetricStatistics', service: 'monitoring', region },
      {
        Version: '2010-08-01',
        Namespace: namespace,
        MetricName: name,
        StartTime: new Date(since * 1000).toISOString(),
        EndTime: new Date(now * 1000).toISOString(),
        Period: '60',
        'Statistics.member.1': statistic,
        ...Object.fromEntries(
          Object.entries(dimensions).flatMap(([key, value], index) => [
            [`Dimensions.member.${index + 1}.Name`, key],
            [`Dimensions.member.${index + 1}.Value`, value],
          ]),
        ),
      },
    );
    const minutes = Array.from(text.matchAll(POINT), ([, point = '']): readonly [number, number] => [
      Date.parse(textOf(point, 'Timestamp') ?? '') / 1000,
      Number(textOf(point, statistic)),
    ]);
    if (minutes.some(([at, value]) => !Number.isFinite(at) || !Number.isFinite(value)))
      throw new Error(`CloudWatch sent an unexpected answer for ${namespace} ${name}`);
    return { metric, minutes };
  };
}
