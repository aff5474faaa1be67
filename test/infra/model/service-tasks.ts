import { findResource, type ModelResource, type World } from './world.ts';

interface ServiceProperties {
  readonly Cluster: string;
  readonly TaskDefinition: string;
  readonly LoadBalancers?: readonly unknown[];
  readonly NetworkConfiguration: {
    readonly AwsvpcConfiguration: { readonly Subnets: string[]; readonly SecurityGroups: string[] };
  };
}

/** Value of `startedBy` of the tasks of a service. */
const startedByOf = ({ key }: ModelResource): string => `ecs-svc/${key}`;

/** Whether a service is behind a load balancer, and scaled by AWS. */
export const isBalanced = ({ properties }: Pick<ModelResource, 'properties'>): boolean =>
  ((properties as unknown as ServiceProperties).LoadBalancers ?? []).length > 0;

/** As last set, whatever was deployed since. A new service begins with one task, and auto scaling wants one in each subnet. */
export function desiredCountOf({ desiredCounts }: World, { key, properties }: ModelResource): number {
  const { NetworkConfiguration } = properties as unknown as ServiceProperties;
  return (
    desiredCounts[key] ?? (isBalanced({ properties }) ? NetworkConfiguration.AwsvpcConfiguration.Subnets.length : 1)
  );
}

/** Runs as many tasks of the current properties as are wanted, and stops those of former properties. */
export function placeServiceTasks(world: World, service: ModelResource): void {
  stopServiceTasks(world, service);
  const { Cluster, TaskDefinition, NetworkConfiguration } = service.properties as unknown as ServiceProperties;
  const { Subnets, SecurityGroups } = NetworkConfiguration.AwsvpcConfiguration;
  for (const subnet of Subnets.slice(0, desiredCountOf(world, service))) {
    findResource(world, 'AWS::EC2::Subnet', subnet);
    world.tasks.push({
      taskArn: `arn:task/${++world.counter}`,
      taskDefinitionArn: findResource(world, 'AWS::ECS::TaskDefinition', TaskDefinition).physicalId,
      cluster: findResource(world, 'AWS::ECS::Cluster', Cluster).physicalId,
      subnets: [subnet],
      securityGroups: SecurityGroups,
      startedBy: startedByOf(service),
      desiredStatus: 'RUNNING',
      lastStatus: 'RUNNING',
    });
  }
}

export function stopServiceTasks(world: World, service: ModelResource): void {
  world.tasks = world.tasks.filter(({ startedBy }) => startedBy !== startedByOf(service));
}

/** The running tasks of a service. */
export const tasksOfService = ({ tasks }: World, service: ModelResource) =>
  tasks.filter((task) => task.startedBy === startedByOf(service) && task.desiredStatus === 'RUNNING');
