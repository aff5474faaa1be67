import { findResource, type ModelResource, type World } from './world.ts';

interface ServiceProperties {
  readonly Cluster: string;
  readonly TaskDefinition: string;
  readonly NetworkConfiguration: {
    readonly AwsvpcConfiguration: { readonly Subnets: string[]; readonly SecurityGroups: string[] };
  };
}

/** Value of `startedBy` of the tasks of a service. */
const startedByOf = ({ key }: ModelResource): string => `ecs-svc/${key}`;

/** Runs a task of the current properties in each subnet, and stops those of former properties. */
export function placeServiceTasks(world: World, service: ModelResource): void {
  stopServiceTasks(world, service);
  const { Cluster, TaskDefinition, NetworkConfiguration } = service.properties as unknown as ServiceProperties;
  const { Subnets, SecurityGroups } = NetworkConfiguration.AwsvpcConfiguration;
  for (const subnet of Subnets) {
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
