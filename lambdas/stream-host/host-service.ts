import { DescribeServicesCommand, ECSClient, UpdateServiceCommand } from '@aws-sdk/client-ecs';

/** Retries and timeouts of AWS clients. Short, since a stream waits for every call. */
export const clientBounds = {
  maxAttempts: 2,
  /** Milliseconds. */
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const;

interface HostServiceOptions {
  readonly ecs?: ECSClient;
  readonly cluster: string;
  readonly service: string;
}

/** `woken`: a task was ordered now. `starting`: ECS starts the one that was ordered before. */
export type HostActivity = 'woken' | 'starting' | 'running';

/** See `createHostService`. */
export type HostService = ReturnType<typeof createHostService>;

/**
 * The ECS service of the stream host, which has one task or none. ECS replaces a task that stops or is outdated. Methods throw the
 * errors of the AWS SDK.
 */
export function createHostService({ ecs = new ECSClient(clientBounds), cluster, service }: HostServiceOptions) {
  const read = async () => {
    const { services = [] } = await ecs.send(new DescribeServicesCommand({ cluster, services: [service] }));
    const [found] = services;
    if (found?.status !== 'ACTIVE') throw new Error(`ECS has no active service ${service}`);
    return found;
  };
  const want = async (desiredCount: number): Promise<void> => {
    await ecs.send(new UpdateServiceCommand({ cluster, service, desiredCount }));
  };
  return {
    /** Orders a task where none is wanted. */
    async wake(): Promise<HostActivity> {
      const { desiredCount, runningCount } = await read();
      if (desiredCount) return runningCount ? 'running' : 'starting';
      await want(1);
      return 'woken';
    },
    isWanted: async () => Boolean((await read()).desiredCount),
    stop: () => want(0),
  };
}
