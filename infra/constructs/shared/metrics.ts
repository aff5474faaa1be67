import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';

/** What the service counts itself, as embedded metrics in its logs. */
export type ServiceMetric =
  | 'Resolves'
  | 'ResolveMilliseconds'
  | 'Streams'
  | 'StreamsStarted'
  | 'BytesSent'
  | 'ReResolves'
  | 'FfmpegFailures'
  | 'ToolAgeHours'
  | 'ToolUpdateFailed'
  | 'MaintenanceSeconds';

/** A metric of this stage. @param options five minutes and their sum unless told */
export const serviceMetric = (
  stage: string,
  metricName: ServiceMetric,
  { dimensionsMap, ...options }: MetricOptions = {},
): Metric =>
  new Metric({
    namespace: 'Reelay',
    metricName,
    dimensionsMap: { Stage: stage, ...dimensionsMap },
    statistic: 'Sum',
    period: Duration.minutes(5),
    ...options,
  });
