import { Duration } from 'aws-cdk-lib';
import type { FargateService, ScalableTaskCount } from 'aws-cdk-lib/aws-ecs';
import { type Deployment, TASK_TARGETS } from '../../config/index.ts';
import { serviceMetric } from '../shared/index.ts';

const TARGET_CPU_PERCENT = 60;

/** Scales out quickly and in slowly: a stopping task has streams to finish. */
const COOLDOWNS = { scaleOutCooldown: Duration.minutes(1), scaleInCooldown: Duration.minutes(15) };

/** Adds target-tracking policies for CPU utilization (encoding), concurrent streams and network traffic. */
export function scaleByStreams(service: FargateService, { profile, settings }: Deployment): ScalableTaskCount {
  const cores = profile.taskCpu / 1024;
  const scaling = service.autoScaleTaskCount({ minCapacity: profile.minTasks, maxCapacity: profile.maxTasks });
  scaling.scaleOnCpuUtilization('Cpu', { targetUtilizationPercent: TARGET_CPU_PERCENT, ...COOLDOWNS });
  scaling.scaleToTrackCustomMetric('Streams', {
    metric: serviceMetric(settings.stage, 'Streams', { statistic: 'Average', period: Duration.minutes(1) }),
    targetValue: TASK_TARGETS.streamsPerCore * cores,
    ...COOLDOWNS,
  });
  scaling.scaleToTrackCustomMetric('Network', {
    metric: serviceMetric(settings.stage, 'BytesSent', { statistic: 'Average', period: Duration.minutes(1) }),
    targetValue: TASK_TARGETS.bytesPerMinutePerCore * cores,
    ...COOLDOWNS,
  });
  return scaling;
}
