import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';

/** Metrics that the service writes to its logs in CloudWatch's embedded metric format. */
export type ServiceMetric =
  | 'Resolves'
  | 'Streams'
  | 'StreamsStarted'
  | 'BytesSent'
  | 'ReResolves'
  | 'FfmpegFailures'
  | 'ToolAgeHours'
  | 'ToolUpdateFailed'
  | 'ToolsMissing'
  | 'ProcessPerLink'
  | 'MaintenanceSeconds';

/** A service metric of this stage. @param options default to the sum over five minutes */
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
