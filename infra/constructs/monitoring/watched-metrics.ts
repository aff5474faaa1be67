import type { WatchedMetric } from '../../../core/spending/index.ts';
import { type SpendingPlan, UNSEEN_MINUTES, unitPrices } from '../../cost/index.ts';
import type { ServiceFunction } from '../shared/index.ts';
import type { MonitoringProps } from './monitoring-props.ts';

/** What spending is computed from: metrics that AWS has by the minute without being asked, and one of the stream tasks. */
export function watchedMetrics(
  { deployment, edge, api, onDemand }: Pick<MonitoringProps, 'deployment' | 'edge' | 'api' | 'onDemand'>,
  { cachesStreams }: SpendingPlan,
): WatchedMetric[] {
  const { settings, profile } = deployment;
  const prices = unitPrices(settings, profile);
  const ofEdge = {
    namespace: 'AWS/CloudFront',
    dimensions: { DistributionId: edge.distribution.distributionId, Region: 'Global' },
    // The only region that has them.
    region: 'us-east-1',
    statistic: 'Sum',
  } as const;
  const ofFunction = ({ functionName }: ServiceFunction) =>
    ({
      namespace: 'AWS/Lambda',
      dimensions: { FunctionName: functionName },
      statistic: 'Sum',
      unseenMinutes: UNSEEN_MINUTES.region,
    }) as const;
  const ofResolver = ofFunction(api.resolver);
  return [
    {
      ...ofEdge,
      name: 'BytesDownloaded',
      usd: prices.edgeByte,
      unseenMinutes: cachesStreams ? UNSEEN_MINUTES.edge : 0,
      isMetered: !cachesStreams,
    },
    {
      ...ofEdge,
      name: 'Requests',
      usd: prices.edgeRequest,
      unseenMinutes: UNSEEN_MINUTES.edge,
      isDoor: true,
    },
    {
      ...ofEdge,
      name: 'BytesUploaded',
      usd: prices.uploadByte,
      unseenMinutes: UNSEEN_MINUTES.edge,
    },
    // In milliseconds.
    { ...ofResolver, name: 'Duration', usd: prices.resolverSecond / 1000 },
    { ...ofResolver, name: 'Invocations', usd: prices.resolve },
    ...(onDemand ? [{ ...ofFunction(onDemand.wake), name: 'Invocations', usd: prices.wakeRequest }] : []),
    {
      namespace: 'AWS/ApiGateway',
      name: 'Count',
      dimensions: { ApiId: api.httpApi.apiId },
      statistic: 'Sum',
      usd: prices.apiRequest,
      unseenMinutes: UNSEEN_MINUTES.region,
      isDoor: true,
    },
    ...(prices.taskMinute > 0
      ? [
          {
            // Each task writes it once a minute.
            namespace: 'Reelay',
            name: 'Streams',
            dimensions: { Stage: settings.stage },
            statistic: 'SampleCount',
            usd: prices.taskMinute,
            unseenMinutes: UNSEEN_MINUTES.region,
          } as const,
        ]
      : []),
  ];
}
